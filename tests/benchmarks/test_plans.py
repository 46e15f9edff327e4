"""The exact figures: right for a queue worked out by hand, failing where a plan breaks a rule."""

from __future__ import annotations

import pytest

from benchmarks import plans, queues
from benchmarks.models import COSTS, GRID, cap, cost_model
from decider.batching import plan_cost


def test_totals_are_those_of_a_queue_worked_out_by_hand():
    total = plans.Figures().totals([[64, 60], [128]], "ladder")
    assert total == {
        "planned": (512 + 128) + (512 + 128),
        "per_bucket": (512 + 128) + (512 + 128),
        "forwards": 2,
        "padded": 256,
        "real_tokens": 252,
        "length_rounding": 4,
        "co_batch_padding": 0,
        "empty_rows": 0,
        "overhead": 1_024,
    }


@pytest.mark.parametrize("cost", COSTS)
def test_no_plan_of_any_mix_costs_more_than_per_bucket_groups(cost):
    for mix in queues.MIXES:
        total = plans.Figures().totals([queues.queue(mix, 40, seed) for seed in range(3)], cost)
        assert 0 < total["planned"] <= total["per_bucket"]


class OneByOne:
    """A planner that merges nothing: legal, and dearer than per-bucket grouping."""

    def __init__(self, *_: object) -> None:
        pass

    def plan(self, lengths):
        return [(GRID.pad_len(n), [row]) for row, n in enumerate(lengths)]


class Forgetful(OneByOne):
    def plan(self, lengths):
        return super().plan(lengths)[1:]


@pytest.mark.parametrize(
    ("planner", "error", "named"),
    [(OneByOne, AssertionError, "per bucket"), (Forgetful, ValueError, "row 0 is in no group")],
)
def test_a_broken_planner_fails_its_benchmark(monkeypatch, planner, error, named):
    monkeypatch.setattr(plans, "Planner", planner)
    with pytest.raises(error, match=named):
        plans.Figures().totals([[64, 64]], "ladder")


def test_a_commit_without_a_planner_is_skipped(monkeypatch):
    monkeypatch.setattr(plans, "Planner", None)
    with pytest.raises(NotImplementedError):
        plans.Plans().setup({}, "short", 8, "ladder")
    assert plans.Plans().setup_cache() == {}


def test_the_lower_bound_is_one():
    for per_bucket, linear, ladder, bound in plans.ladder_costs("decision", 8):
        assert bound <= ladder <= min(per_bucket, linear)


def test_the_made_up_table_has_cells_slower_than_larger_ones():
    """So that closing it under free disposal is put to the test."""
    cost = cost_model("measured")
    assert any(cost.shape(*shape) != shape for shape in cost.cells)
    assert plan_cost([(64, [0])], cost=cost) > 0
    assert cap(64) == 32
