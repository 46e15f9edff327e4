"""The cost model's line in the report."""

from __future__ import annotations

from pathlib import Path

from decider.perf.report.cost_line import cost_line
from tests.perf.report.results import benchmark, write_grid_file, write_results


def test_the_line_that_the_times_lie_on_is_found(tmp_path: Path) -> None:
    found = cost_line(write_results(tmp_path))
    assert "Overhead 500 token-units" in found.facts[0]  # 2 ms over 4 us a token
    assert found.facts[1] == "A forward takes 2.00 ms, and 4.00 µs more for each padded token"
    assert found.chart is not None
    assert ("1", "64", "64", "2.26 ms") in [row[:4] for row in found.chart.rows]


def test_without_a_line_the_reason_is_given(tmp_path: Path) -> None:
    one = benchmark({"batch": [1], "length": [64]}, [0.002], "seconds")
    found = cost_line(write_results(tmp_path, benchmarks={"forward.Forward.track_seconds": one}))
    assert (found.facts, found.chart) == ((), None)
    assert "no line" in found.reservations[0]


def test_a_refused_measurement_is_told(tmp_path: Path) -> None:
    found = cost_line(write_grid_file(tmp_path / "grid.json", missing=[512]))
    assert found.chart is None
    assert "did not end" in found.reservations[0]


def test_a_file_without_forwards_is_told(tmp_path: Path) -> None:
    found = cost_line(write_results(tmp_path, benchmarks={}))
    assert found.chart is None
    assert "no asv result with" in found.reservations[0]
