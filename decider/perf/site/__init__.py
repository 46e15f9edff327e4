"""The history site: static pages of what was measured, over commits.

`results_history` arranges asv's results by benchmark and commit; the `*_page` modules render one
page each; `build` writes them all. The pages work from disk and below any folder of a server.
"""
