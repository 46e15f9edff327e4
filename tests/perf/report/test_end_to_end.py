"""Throughput against latency."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from decider.perf.report.end_to_end import end_to_end
from decider.perf.report.result_file import Result
from decider.perf.report.results_folder import read_results_folder
from tests.perf.report.results import COMMIT, OLDER, benchmark, write_results
from tests.perf.report.results import end_to_end as benchmarks
from tests.perf.report.specifications import datasets

SECONDS = "end_to_end.EndToEnd.track_seconds_per_1000_rows"


def _two(folder: Path) -> tuple[Result, Result]:
    write_results(folder, benchmarks=benchmarks())
    older = {"commit": OLDER, "committed_ms": 1_700_000_000_000}
    write_results(folder, benchmarks=benchmarks(0.5), **older)  # type: ignore[arg-type]
    read = read_results_folder(folder)
    return read.choose(commit=COMMIT), read.choose(commit=OLDER)


def test_a_diagram_for_the_engine_and_one_in_virtual_time(tmp_path: Path) -> None:
    found = end_to_end(_two(tmp_path)[0])
    assert [chart.title for chart in found.charts] == [
        "Real engine, mix short",
        "Virtual time, mix short",
    ]
    assert found.note == ""


def test_seconds_become_rows_a_second_with_their_interval(tmp_path: Path) -> None:
    engine, virtual = end_to_end(_two(tmp_path)[0]).charts
    assert engine.headers == (
        *("mix", "load", "policy", "side", "rows a second", "99% interval"),
        *("p99", "p95", "p50"),
    )
    assert engine.rows[-1] == (
        *("short", "closed 64", "planned", "head", "62.5", "60.7 to 64.4"),
        *("600 ms", "too few rows", "300 ms"),
    )
    assert virtual.rows[-1][5] == "exact"


def test_a_load_with_too_few_rows_for_the_percentile_is_in_the_table_only(tmp_path: Path) -> None:
    engine, _ = end_to_end(_two(tmp_path)[0]).charts
    points = [p for d in datasets(engine.specification) for p in d if "policy" in p]
    assert {point["load"] for point in points} == {"closed 64"}
    assert {row[1] for row in engine.rows} == {"closed 1", "closed 64"}


def test_both_sides_stand_in_one_diagram(tmp_path: Path) -> None:
    engine, _ = end_to_end(*_two(tmp_path)).charts
    assert [row[3] for row in engine.rows] == ["base"] * 4 + ["head"] * 4


def test_a_base_of_another_version_is_left_out(tmp_path: Path) -> None:
    now, before = _two(tmp_path)
    changed = {n: replace(one, version="another") for n, one in before.benchmarks.items()}
    other = replace(before, benchmarks=changed)
    engine, _ = end_to_end(now, other).charts
    assert {row[3] for row in engine.rows} == {"head"}


def test_without_a_99th_percentile_the_next_one_is_drawn(tmp_path: Path) -> None:
    content = benchmarks()
    for name in list(content):
        if "p99" in name:
            del content[name]
    write_results(tmp_path, benchmarks=content)
    engine, _ = end_to_end(read_results_folder(tmp_path).choose()).charts
    assert "p50 latency" in str(engine.specification)
    assert engine.rows[-1][6] == "too few rows"


def test_nothing_measured_is_one_line(tmp_path: Path) -> None:
    write_results(tmp_path, benchmarks={})
    found = end_to_end(read_results_folder(tmp_path).choose())
    assert (found.charts, found.note) == (
        (),
        "Not measured. It is by: asv run --bench end_to_end",
    )


def test_all_skipped_is_another(tmp_path: Path) -> None:
    axes = {"mix": ("short",), "load": ("closed 1",), "policy": ("planned",)}
    write_results(tmp_path, benchmarks={SECONDS: benchmark(axes, [math.nan], "seconds")})
    found = end_to_end(read_results_folder(tmp_path).choose())
    assert found.note.startswith("Every load failed or was skipped.")
