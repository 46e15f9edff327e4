"""The history site: static pages of what was measured, over commits.

The results come from `decider.perf.history`, the changes too; the `*_page` modules render one page
each; `build` writes them all. The pages work from disk and below any folder of a server.
"""
