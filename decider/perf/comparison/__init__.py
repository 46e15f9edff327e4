"""Paired comparison of two commits: `decider compare`.

`arm` talks to a process that holds one commit; `pair` samples two of them in turn; `run` goes on
pair by pair until `decider.perf.verdict` has judged every cell; `document` is what is written.
"""
