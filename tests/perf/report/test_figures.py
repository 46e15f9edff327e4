"""Figures of the planner."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from decider.perf.report.figures import PLAN_COST, plan_figures, planning_charts
from decider.perf.report.results_folder import read_results_folder
from tests.perf.report.results import COSTS, MIXES, SIZES, benchmark, write_results


def test_a_cost_model_has_a_table_of_mixes_by_rows(tmp_path: Path) -> None:
    write_results(tmp_path)
    costs = plan_figures(read_results_folder(tmp_path).choose()).costs
    assert [table.title for table in costs] == [f"Planned with the {cost} cost" for cost in COSTS]
    for table in costs:
        assert [name for name, _ in table.rows] == list(MIXES)
        assert table.columns == tuple(map(str, SIZES))
    first = costs[0].rows[0][1][0]
    assert (first.text, first.said) == ("0.900", "0.900 (0.9)")


def test_the_parts_of_a_ledger_add_up_to_the_cost(tmp_path: Path) -> None:
    write_results(tmp_path)
    for chart in plan_figures(read_results_folder(tmp_path).choose()).ledgers:
        assert len(chart.rows) == len(MIXES) * len(SIZES)
        for _, _, *parts, cost in chart.rows:
            assert sum(map(float, parts)) == pytest.approx(float(cost), abs=0.003)


def test_planning_is_drawn_for_each_cost_model_and_once_against_the_textbook(
    tmp_path: Path,
) -> None:
    write_results(tmp_path)
    charts = planning_charts(read_results_folder(tmp_path).choose())
    assert [chart.title for chart in charts] == [
        "Time of planning, linear cost",
        "Time of planning, ladder cost",
        "The planner against the textbook program",
    ]
    assert charts[2].rows[0] == ("8", "0.700", "0.665 to 0.735")


def test_failed_and_skipped_cells_are_not_drawn(tmp_path: Path) -> None:
    planning = benchmark(
        {"mix": ["short"], "rows": [1, 8], "cost": ["ladder"]}, [None, math.nan], "seconds"
    )
    costs = benchmark({"mix": ["short"], "rows": [8], "cost": ["ladder"]}, [None], "ratio")
    content = {"planner.Planning.time_plan": planning, PLAN_COST: costs}
    write_results(tmp_path, benchmarks=content)
    result = read_results_folder(tmp_path).choose()
    assert planning_charts(result) == []
    (table,) = plan_figures(result).costs
    assert table.rows[0][1][0].kind == "failed"
    assert plan_figures(result).ledgers == ()
