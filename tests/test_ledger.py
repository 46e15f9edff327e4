"""The waste ledger sums exactly to the plan's cost; a broken plan is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.batching import plan_cost, plan_queue
from decider.costs import LadderCost, LinearCost, MeasuredCost
from decider.grid import CPU_GRID, BucketGrid
from decider.ledger import check_plan, explain
from decider.workloads import MIXES, row_lengths

GRID = BucketGrid()


@given(
    st.sampled_from(sorted(MIXES)),
    st.integers(1, 200),
    st.integers(0, 2**32),
    st.floats(0, 4_096),
)
def test_the_parts_sum_exactly_to_the_cost(mix, size, seed, overhead):
    lengths = row_lengths(mix, size, seed=seed).tolist()
    for cost in (LinearCost(overhead), LadderCost(overhead, GRID)):
        plan = plan_queue(lengths, GRID, cost)
        ledger = explain(plan, lengths, GRID.pad_len, cost)
        assert ledger.cost == plan_cost(plan, cost=cost)
        assert ledger.overhead == len(plan) * cost.overhead
        assert ledger.real_tokens == sum(lengths)
        assert ledger.forwards == len(plan)


@given(st.integers(0, 2**32), st.integers(1, 100))
def test_a_measured_ledger_sums_exactly_too(seed, size):
    cells = {s: 0.3 + 0.001 * s.batch * s.length**1.1 for s in CPU_GRID.shapes}
    cost = MeasuredCost(cells, CPU_GRID)
    lengths = row_lengths("short", size, seed=seed, longest=1_024).tolist()
    plan = plan_queue(lengths, CPU_GRID, cost)
    assert explain(plan, lengths, CPU_GRID.pad_len, cost).cost == plan_cost(plan, cost=cost)


def test_each_part_is_what_the_design_says():
    ledger = explain([(128, [0, 1, 2])], [100, 60, 64], GRID.pad_len, LadderCost(512, GRID))
    assert ledger.real_tokens == 224
    assert ledger.length_rounding == 28 + 4 + 0
    assert ledger.co_batch_padding == 64 + 64
    assert ledger.empty_rows == 128
    assert ledger.overhead == 512
    assert ledger.padded_tokens == 4 * 128


@pytest.mark.parametrize(
    ("plan", "named"),
    [
        ([(64, [0])], "row 1 is in no group"),
        ([(64, [0, 1]), (64, [1])], "group 1: row 1 is in a group already"),
        ([(64, [1, 0])], "arrival order"),
        ([(64, [0, 1]), (64, [])], "group 1 is empty"),
        ([(64, [0, 1, 2])], "no row 2"),
        ([(32, [0, 1])], "row 0 of 64 tokens does not fit 32"),
    ],
)
def test_a_broken_plan_is_named(plan, named):
    with pytest.raises(ValueError, match=named):
        check_plan(plan, [64, 32], BucketGrid((32, 64)).pad_len)


def test_a_group_above_its_cap_is_named():
    with pytest.raises(ValueError, match="2 rows at 64 tokens, cap 1"):
        check_plan([(64, [0, 1])], [64, 64], GRID.pad_len, lambda T: 1)
