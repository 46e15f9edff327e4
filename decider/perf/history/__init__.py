"""Steps and drifts in what was measured over commits: `decider history`.

`changes` finds them in one series of values: `steps` has asv's detector propose where the level
changes and keeps what chance does not explain, `places` says in which commits, `drifts` tells a
slow change from a sudden one. `results_reader` and `results_history` arrange asv's results by
benchmark and commit, `series` makes series of them, `findings` searches them all, `document` is
what is written. How well that works is measured by `simulation`.
"""

from decider.perf.history.changes import Change, find_changes

__all__ = ["Change", "find_changes"]
