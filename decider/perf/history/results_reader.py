"""Reads asv's results folder into a history, one file after the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from decider.perf.history.results_history import ResultsHistory
from decider.perf.report.results_folder import each_result


def read_history(
    path: Path, progress: Callable[[str, int, int], None] = lambda *_: None
) -> tuple[ResultsHistory, list[str]]:
    """What is in asv's results folder, `MACHINE/COMMIT-ENVIRONMENT.json` below it.

    Returns:
        the history, and a sentence for each file that could not be read and was left out.

    Raises:
        ValueError: there is no folder, no result, or none that can be read.
    """
    problems: list[str] = []
    history = ResultsHistory()
    for result in each_result(
        path, problems, progress=lambda done, total: progress("results", done, total)
    ):
        history.add(result)
    return history, problems
