"""What the page and the comment show of a comparison.

`words` knows how a verdict, a change and an interval are written; `headline`, `maps`, `rows`,
`exact`, `lines`, `summaries` and `failures` each say what one section shows; `view` puts them
together. Nothing here judges: verdicts come with the document.
"""
