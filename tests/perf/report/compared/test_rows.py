"""The table of all compared cells."""

from __future__ import annotations

from decider.perf.report.compared.rows import HEADERS, compared_rows, log_ratios
from tests.perf.report.comparisons import cell, comparison, empty, void, whole


def test_a_line_tells_verdict_change_interval_and_what_would_decide_it() -> None:
    rows = {row.cell: row for row in compared_rows(whole())}
    row = rows["forward/2x64"]
    assert (row.verdict, row.kind) == ("? inconclusive", "inconclusive")
    assert dict(zip(HEADERS, (text for text, _ in row.numbers), strict=True)) == {
        "change": "+1.1%",
        "interval": "−2.0% to +5.0%",
        "smallest visible": "+1.3%",
        "pairs": "14",
        "pairs needed": "60",
        "base": "2.51 ms",
        "head": "2.54 ms",
    }
    assert rows["forward/2x512"].numbers[4] == ("not known", "")


def test_intervals_sort_by_width_and_times_by_seconds() -> None:
    (row, _) = compared_rows(comparison([cell("forward/1x64", "regressed", 0.1)]))
    assert [key for _, key in row.numbers] == ["", "0.02", "", "", "", "0.002256", "0.002482"]


def test_the_worst_stands_first_and_the_control_last() -> None:
    rows = compared_rows(whole())
    assert (rows[0].cell, rows[-1].cell) == ("forward/8x512", "control")
    assert compared_rows(empty()) == []


def test_a_failure_has_its_reason_and_no_number() -> None:
    row = next(row for row in compared_rows(whole()) if row.cell == "forward/2x128")
    assert (row.kind, row.reason, row.strip) == ("failed", "head: out of memory", "")
    assert [text for text, _ in row.numbers] == ["", "", "", "0", "", "", ""]


def test_a_strip_shows_the_pairs_of_its_cell() -> None:
    document = comparison([cell("forward/1x64", "regressed", 0.05)])
    document["pairs"][3]["samples"] = {}
    assert len(log_ratios(document)["forward/1x64"]) == 13
    (row, _) = compared_rows(document)
    assert row.strip.startswith('<svg role="img" aria-label="+')


def test_no_line_of_a_void_run_gives_a_verdict() -> None:
    assert {(row.verdict, row.kind) for row in compared_rows(void())} == {("void", "void")}
