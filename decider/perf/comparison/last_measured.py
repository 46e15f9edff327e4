"""The commit that this machine measured last: what a new one is compared with where none is named.

Knows asv's results folder; knows no git.
"""

from __future__ import annotations

from pathlib import Path

from decider.perf.report.results_folder import read_results_folder


def last_measured(folder: Path, machine: str, head: str) -> str | None:
    """Hash of the newest commit other than `head` of which `machine` has results, if there is one.

    Args:
        folder: asv's results folder; missing or empty is no error.
        machine: its name in results.
        head: the hash of the commit to be compared.
    """
    try:
        results = read_results_folder(folder, only=()).results  # commits and machines alone
    except ValueError:
        return None
    others = [found for found in results if found.machine == machine and found.commit != head]
    return max(others, key=lambda result: result.age).commit if others else None
