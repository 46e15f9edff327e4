"""The planner's benchmarks run, and compare programs that give plans of the same cost."""

from __future__ import annotations

import pytest

from benchmarks import planner, queues
from benchmarks.models import COSTS, GRID, MAX_BATCH, cost_model, textbook
from decider.batching import Planner, plan_cost


@pytest.mark.parametrize("cost", COSTS)
def test_planning_is_set_up_outside_the_timed_part(cost):
    benchmark = planner.Planning()
    benchmark.setup("decision", 8, cost)
    assert benchmark.time_plan("decision", 8, cost) is None


@pytest.mark.parametrize("rows", [1, 8, 200])
def test_both_sides_of_the_ratio_find_plans_of_the_same_cost(rows):
    cost = cost_model("ladder")
    lengths = [min(n, GRID.length_buckets[-1]) for n in queues.queue("decision", rows)]
    planned = Planner(GRID, cost, MAX_BATCH).plan(lengths)
    assert plan_cost(planned, cost=cost) == plan_cost(textbook("ladder").plan(lengths), cost=cost)


def test_the_ratio_gives_asv_a_sample_for_each_round(monkeypatch):
    monkeypatch.setattr(planner, "ROUND_S", 0.0)
    result = planner.PlanningRatio().track_over_textbook(8)
    assert len(result["samples"]) == planner.ROUNDS
    assert all(sample > 0 for sample in result["samples"])
