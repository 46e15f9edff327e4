"""A few figures over commits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from decider.perf.report import history as history_module
from decider.perf.report.history import MOST_DRAWN, MOST_STEPS, history
from decider.perf.report.result_file import Result
from decider.perf.report.results_folder import read_results_folder
from tests.perf.report.results import COMMITTED_MS, benchmark, write_results

FIGURE = "forward.Forward.track_microseconds_per_real_token"
SECONDS = "end_to_end.EndToEnd.track_seconds_per_1000_rows"


class _Finder:
    """Finds a step at every index it was told of, and remembers what it was asked."""

    def __init__(self, *indices: int) -> None:
        self.indices = indices
        self.asked: list[tuple[tuple[float, ...], bool]] = []

    def __call__(self, values: Sequence[float], *, exact: bool) -> list[Any]:
        self.asked.append((tuple(values), exact))
        return [
            SimpleNamespace(
                kind="step", index=at, after=at - 1, most_likely=at, change=0.1, worse=True
            )
            for at in self.indices
        ]


def _results(folder: Path, values: Sequence[float | None], **of_last: Any) -> list[Result]:
    for number, value in enumerate(values):
        write_results(
            folder,
            commit=f"{number:08x}{'0' * 32}",
            committed_ms=COMMITTED_MS + 1000 * number,
            benchmarks={FIGURE: benchmark({}, [value], "microseconds")},
            **(of_last if number == len(values) - 1 else {}),
        )
    return sorted(read_results_folder(folder).results, key=lambda result: result.committed)


def test_values_stand_in_the_order_of_commits_and_holes_are_no_numbers(tmp_path: Path) -> None:
    results = _results(tmp_path, [1.0, None, 3.0, 4.0])
    find = _Finder()
    found = history(results[::-1], results[-1], find)
    ((values, exact),) = find.asked
    assert values[:1] + values[2:] == (1.0, 3.0, 4.0)
    assert math.isnan(values[1])
    assert not exact
    (chart,) = found.charts
    assert chart.rows == (
        ("00000000", "1.00 µs"),
        ("00000002", "3.00 µs"),
        ("00000003", "4.00 µs"),
    )
    assert "no step was found" in chart.caption


def test_a_step_is_listed_with_its_commits_and_marked(tmp_path: Path) -> None:
    results = _results(tmp_path, [1.0, 1.0, 1.1, 1.1])
    found = history(results, results[-1], _Finder(2))
    (step,) = found.steps
    assert (step.series, step.kind, step.change, step.worse) == (FIGURE, "step", "+10.0%", True)
    assert (step.before, step.first) == (results[1].commit, results[2].commit)
    assert "▲ +10.0%" in str(found.charts[0].specification)


def test_commits_after_the_page_are_not_on_it(tmp_path: Path) -> None:
    results = _results(tmp_path, [1.0, 1.0, 1.0, 5.0])
    (chart,) = history(results, results[2], _Finder()).charts
    assert len(chart.rows) == 3


def test_too_few_commits_are_no_history(tmp_path: Path) -> None:
    results = _results(tmp_path, [1.0, 1.0])
    found = history(results, results[-1], _Finder())
    assert found.charts == ()
    assert found.note == "2 commits measured here so far: a history begins with three."


def test_other_machines_and_environments_are_left_out(tmp_path: Path) -> None:
    results = _results(tmp_path / "here", [1.0, 1.0, 1.0])
    elsewhere = _results(tmp_path / "there", [9.0, 9.0, 9.0], machine="other")
    paired = [replace(r, path=Path("0000-paired.json"), commit="9" * 40) for r in results]
    find = _Finder()
    history([*results, elsewhere[-1], *paired], results[-1], find)
    assert [values for values, _ in find.asked] == [(1.0, 1.0, 1.0)]


def test_another_version_of_the_benchmark_has_no_value(tmp_path: Path) -> None:
    results = _results(tmp_path, [1.0, 2.0, 3.0, 4.0])
    old = results[0].benchmarks[FIGURE]
    results[0] = replace(results[0], benchmarks={FIGURE: replace(old, version="0")})
    find = _Finder()
    history(results, results[-1], find)
    assert math.isnan(find.asked[0][0][0])
    assert find.asked[0][0][1:] == (2.0, 3.0, 4.0)


def test_series_with_steps_are_drawn_first_and_not_too_many(tmp_path: Path) -> None:
    axes = {"mix": [f"m{number}" for number in range(10)]}
    for number in range(3):
        values = [float(mix + (number if mix == 9 else 0)) for mix in range(10)]
        write_results(
            tmp_path,
            commit=f"{number:040x}",
            committed_ms=COMMITTED_MS + number,
            benchmarks={SECONDS: benchmark(axes, values, "seconds")},
        )
    read = read_results_folder(tmp_path)

    def find(values: Sequence[float], *, exact: bool) -> list[Any]:
        return _Finder(1)(values, exact=exact) if values[0] != values[2] else []

    found = history(read.results, read.choose(), find)
    assert len(found.charts) == MOST_DRAWN
    assert "mix m9" in found.charts[0].title
    assert "6 of 10 series are drawn. 10 were searched" in found.note


def test_many_steps_are_cut_to_the_newest(tmp_path: Path) -> None:
    results = _results(tmp_path, [1.0] * (MOST_STEPS + 20))
    found = history(results, results[-1], _Finder(*range(1, MOST_STEPS + 11)))
    assert len(found.steps) == MOST_STEPS
    assert found.steps[-1].number == MOST_STEPS + 10
    assert f"Of {MOST_STEPS + 10} changes the newest {MOST_STEPS} are listed." in found.note


def test_without_the_detectors_package_it_is_drawn_and_said(
    tmp_path: Path, monkeypatch: Any
) -> None:
    def missing() -> None:
        raise ModuleNotFoundError("no asv", name="asv")

    monkeypatch.setattr(history_module, "_finder", missing)
    results = _results(tmp_path, [1.0, 1.0, 1.0])
    found = history(results, results[-1])
    assert "Steps were not searched for: asv is missing." in found.note
    assert len(found.charts) == 1


def test_a_real_step_is_found(tmp_path: Path) -> None:
    results = _results(tmp_path, [1.0 + 0.002 * (n % 3) + 0.5 * (n >= 12) for n in range(24)])
    (step,) = history(results, results[-1]).steps
    assert (step.before, step.first) == (results[11].commit, results[12].commit)
    assert step.worse
