"""The policies: names in order, plans over one grid, and what is derived from a measured table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.policies import MAX_BATCH, NAMES, PER_BUCKET, overhead_tokens, policies
from decider.batching import check_plan, per_bucket_groups, plan_cost
from decider.costs import MeasuredCost
from decider.grid import CPU_GRID

LINE = {(b, t): 30 + 0.2 * b * t for b, t in CPU_GRID.shapes}


def test_they_are_the_named_ones_in_order():
    assert tuple(policies(CPU_GRID, LINE)) == NAMES
    assert NAMES[0] == PER_BUCKET


@given(st.lists(st.integers(1, 1_024), min_size=1, max_size=80))
def test_every_policy_plans_every_row_within_the_caps(lengths):
    for policy in policies(CPU_GRID, LINE).values():
        plan = policy.plan(lengths)
        check_plan(plan, lengths, CPU_GRID.pad_len, lambda T: min(MAX_BATCH, CPU_GRID.max_rows(T)))


@given(st.lists(st.integers(1, 1_024), min_size=1, max_size=80))
def test_the_measured_policy_is_never_dearer_than_any_other_on_its_own_table(lengths):
    measured = MeasuredCost(LINE, CPU_GRID)
    compared = policies(CPU_GRID, LINE)
    cheapest = plan_cost(compared["measured"].plan(lengths), cost=measured)
    for policy in compared.values():
        assert cheapest <= plan_cost(policy.plan(lengths), cost=measured)


def test_per_bucket_is_the_reference_grouping():
    lengths = [5, 70, 900, 64, 65, 1_024] * 9
    expected = per_bucket_groups(lengths, CPU_GRID.pad_len, CPU_GRID.max_rows, MAX_BATCH)
    policy = policies(CPU_GRID, LINE)[PER_BUCKET]
    assert policy.plan(lengths) == expected
    assert policy.cost.shape(3, 64) == (4, 64)


def test_the_overhead_of_a_line_is_found_and_never_negative():
    assert overhead_tokens(LINE) == pytest.approx(150)
    noisy = {shape: ms * (1.05 if sum(shape) % 3 else 0.95) for shape, ms in LINE.items()}
    assert overhead_tokens(noisy) == pytest.approx(150, rel=0.2)
    assert overhead_tokens({(b, t): float((b * t) ** 2) for b, t in LINE}) == 0
