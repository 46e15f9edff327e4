"""The commit that this machine measured last."""

from __future__ import annotations

from pathlib import Path

from decider.perf.comparison.last_measured import last_measured
from tests.perf.report.results import COMMIT, OLDER, write_results

MACHINE = "reference"


def test_it_is_the_newest_other_commit_of_the_machine(tmp_path: Path):
    write_results(tmp_path)
    write_results(tmp_path, commit=OLDER, committed_ms=1_750_000_000_000)
    assert last_measured(tmp_path, MACHINE, COMMIT) == OLDER
    assert last_measured(tmp_path, MACHINE, OLDER) == COMMIT
    assert last_measured(tmp_path, MACHINE, "f" * 40) == COMMIT


def test_nothing_measured_is_none(tmp_path: Path):
    assert last_measured(tmp_path / "nowhere", MACHINE, COMMIT) is None
    write_results(tmp_path)
    assert last_measured(tmp_path, "another", COMMIT) is None
    assert last_measured(tmp_path, MACHINE, COMMIT) is None
