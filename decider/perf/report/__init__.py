"""One self-contained HTML page of what a benchmark run measured.

`result_file` and `results_folder` read asv's results; `quantities`, `heat_maps`, `strips` and
`charts` know how a number, a table, a cell's samples and a diagram look; `forwards`, `figures`,
`differences` and `summary` say what is shown of a result; `page` puts it together. Nothing here
judges: verdicts are for a module of their own, which the page will take beside the differences.
"""
