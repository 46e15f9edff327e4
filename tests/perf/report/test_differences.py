"""Plain differences of two results."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from decider.perf.report.differences import Differences, differences
from decider.perf.report.results_folder import read_results_folder
from tests.perf.report.results import COMMIT, OLDER, benchmark, write_results

COST = "plans.Plans.track_cost"
TIME = "planner.Planning.time_plan"


def _compare(
    folder: Path, before: dict[str, Any], now: dict[str, Any], **params: str
) -> Differences:
    write_results(folder, commit=OLDER, committed_ms=1_700_000_000_000, benchmarks=before, **params)
    write_results(folder, benchmarks=now)
    read = read_results_folder(folder)
    return differences(read.choose(commit=COMMIT), read.choose(commit=OLDER))


def _rows(*values: float | None, **options: Any) -> Any:
    return benchmark({"rows": range(len(values))}, values, "ratio", **options)


def test_the_least_change_of_an_exact_figure_is_a_change(tmp_path: Path) -> None:
    found = _compare(tmp_path, {COST: _rows(0.9, 0.8)}, {COST: _rows(0.9, math.nextafter(0.8, 1))})
    (change,) = found.changed
    assert (change.before.value, change.now.label) == (0.8, "rows 1")
    assert found.unchanged == 1


def test_a_noisy_figure_never_counts_as_changed_and_has_a_ratio(tmp_path: Path) -> None:
    found = _compare(tmp_path, {TIME: _rows(2.0)}, {TIME: _rows(3.0)})
    assert (found.changed, found.unchanged) == ((), 0)
    (cell,) = read_results_folder(tmp_path).choose(commit=COMMIT).cells
    assert found.ratio(cell) == 1.5


def test_what_only_one_side_measured_is_told(tmp_path: Path) -> None:
    found = _compare(tmp_path, {TIME: _rows(1.0, None, None, 4.0)}, {TIME: _rows(None, 1.0, None)})
    assert [(p.before.status, p.now.status) for p in found.turned] == [
        ("measured", "failed"),
        ("failed", "measured"),
        ("measured", "absent"),
    ]


def test_versions_and_missing_benchmarks_are_not_compared(tmp_path: Path) -> None:
    before = {TIME: _rows(1.0), COST: _rows(1.0), "gone": _rows(1.0)}
    now = {TIME: _rows(9.0, version="2"), COST: _rows(1.0), "new": _rows(1.0)}
    found = _compare(tmp_path, before, now)
    assert dict(found.not_compared) == {
        "gone": "only in the baseline",
        "new": "not in the baseline",
        TIME: "version 1 there, version 2 here",
    }
    assert list(found.before) == [(COST, (("rows", "0"),))]
    assert found.turned == ()


def test_it_says_what_the_sides_were_measured_on_differently(tmp_path: Path) -> None:
    found = _compare(tmp_path, {}, {}, torch="2.10", driver="550")
    assert found.facts == (("torch", "2.10", "2.11.0"), ("driver", "550", "not known"))


def test_a_result_is_no_baseline_of_itself(tmp_path: Path) -> None:
    write_results(tmp_path, benchmarks={})
    result = read_results_folder(tmp_path).choose()
    with pytest.raises(ValueError, match=f"commit {COMMIT[:8]}: name another commit"):
        differences(result, result)
