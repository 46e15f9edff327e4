"""Summaries of a comparison."""

from __future__ import annotations

from decider.perf.report.compared.summaries import summary_rows
from tests.perf.report.comparison_parts import summary
from tests.perf.report.comparisons import cell, comparison, empty


def test_a_line_a_benchmark_and_one_for_the_suite() -> None:
    cells = [cell("forward/1x64", "regressed", 0.05), cell("forward/2x64", "failed")]
    forward = summary(cells) | {
        "benchmark": "forward",
        "weighted_mean": 0.02,
        "weights": "the decision mix, 90% covered",
    }
    first, whole_suite = summary_rows(comparison(cells, summaries=[forward, summary(cells)]))
    assert (first.name, first.cells, first.counts) == (
        "forward",
        "2",
        "▲ 1 regressed, ✕ 1 failed",
    )
    assert (first.geometric_mean, first.weighted_mean) == ("+1.2%", "+2.0%")
    assert first.weights == "the decision mix, 90% covered"
    assert first.worst == "forward/1x64 +5.0%"
    assert (whole_suite.name, whole_suite.weighted_mean) == ("whole suite", "none")


def test_without_cells_there_is_no_worst() -> None:
    (row,) = summary_rows(comparison())
    assert (row.cells, row.counts, row.worst) == ("0", "", "")
    assert summary_rows(empty()) == []
