"""Lines of the table of all cells."""

from __future__ import annotations

import math
from pathlib import Path

from decider.perf.report.cell_rows import cell_rows
from decider.perf.report.differences import differences
from decider.perf.report.result_file import Cell
from decider.perf.report.results_folder import read_results_folder
from tests.perf.report.results import COMMIT, OLDER, write_results


def test_a_measured_cell() -> None:
    cell = Cell("b", (("rows", "8"),), "measured", 0.5, "seconds", (0.4, 0.6), (0.5, 0.5))
    (row,) = cell_rows([cell], None)
    assert (row.parameters, row.value, row.interval, row.samples) == (
        "rows 8",
        "500 ms",
        "±20.0%",
        2,
    )
    assert (row.value_key, row.kind, row.before, row.ratio) == ("0.5", "noisy", "", "")


def test_a_failed_cell_has_nothing_to_sort_by() -> None:
    (row,) = cell_rows([Cell("b", (), "failed")], None)
    assert (row.status, row.value, row.value_key, row.strip) == ("failed", "", "", "")


def test_an_exact_figure_is_shown_exactly() -> None:
    (row,) = cell_rows([Cell("plans.x", (), "measured", 0.9054373522458, "ratio")], None)
    assert (row.kind, row.value) == ("exact", "0.905437352246")


def test_what_cannot_be_sorted_by_is_said_in_words() -> None:
    (row,) = cell_rows([Cell("b", (), "measured", math.inf, "seconds")], None)
    assert (row.value, row.value_key) == ("infinite", "")


def test_a_baseline_gives_its_value_and_the_ratio(tmp_path: Path) -> None:
    write_results(tmp_path, slower=2)
    write_results(tmp_path, commit=OLDER, committed_ms=1_700_000_000_000)
    read = read_results_folder(tmp_path)
    now, before = read.choose(commit=COMMIT), read.choose(commit=OLDER)
    rows = cell_rows(now.cells, differences(now, before))
    assert {row.ratio for row in rows if row.benchmark == "planner.Planning.time_plan"} == {"2.000"}
    failed = [row for row in rows if row.status != "measured"]
    assert failed
    assert {(row.before, row.ratio) for row in failed} == {("", "")}
