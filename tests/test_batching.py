"""The planner: the reference plan for plan, the cheapest of all partitions, and what it refuses."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decider.batching import (
    DEFAULT_MERGE_OVERHEAD_TOKENS,
    Planner,
    batch_cost,
    check_plan,
    group_cap,
    per_bucket_groups,
    plan_batches,
    plan_cost,
    plan_queue,
)
from decider.costs import CostModel, LadderCost, LinearCost, MeasuredCost
from decider.grid import BucketGrid
from decider.workloads import MIXES, row_lengths
from tests.oracles import cheapest_partition, reference_plan, textbook_plan

GRID = BucketGrid()
SHARED = Path(__file__).parents[2] / "shared"

queues = st.builds(
    lambda mix, size, seed: row_lengths(mix, size, seed=seed).tolist(),
    st.sampled_from(sorted(MIXES)),
    st.integers(0, 400),
    st.integers(0, 2**32),
)
few_rows = st.lists(st.integers(1, 700), max_size=7)
overheads = st.one_of(st.integers(0, 4_096), st.floats(0, 4_096))
caps = st.sampled_from([1, 2, 5, 8, 12, 32, 64])


def cap_of(grid: BucketGrid, max_batch: int):
    return lambda T: group_cap(T, grid.max_rows, max_batch)


class TestLinear:
    @given(queues, overheads, caps)
    def test_the_plan_is_the_reference_plan(self, lengths, overhead, max_batch):
        arguments = (lengths, GRID.pad_len, GRID.max_rows, max_batch, overhead)
        assert plan_batches(*arguments) == reference_plan(*arguments)
        bucketed = (*arguments, GRID.is_bucketed)
        assert plan_batches(*bucketed) == reference_plan(*bucketed)

    @given(queues, st.integers(0, 4_096), caps)
    def test_one_call_with_a_grid_gives_the_same_plan(self, lengths, overhead, max_batch):
        reference = reference_plan(
            lengths, GRID.pad_len, GRID.max_rows, max_batch, overhead, GRID.is_bucketed
        )
        assert plan_queue(lengths, GRID, LinearCost(overhead), max_batch) == reference

    @given(few_rows, st.integers(0, 4_096), st.integers(1, 5), st.integers(0, 3))
    def test_any_callables_give_the_reference_plan(self, lengths, overhead, step, rise):
        """Caps that rise with the length, unusual padding, and rows that may not merge."""
        arguments = (
            lengths,
            lambda n: -(-n // (50 * step)) * 50 * step,
            lambda T: T * rise // 200,
            6,
            overhead,
            lambda n: n % 3 > 0,
        )
        assert plan_batches(*arguments) == reference_plan(*arguments)

    @given(queues)
    def test_without_overhead_the_cost_is_that_of_per_bucket_groups(self, lengths):
        arguments = (lengths, GRID.pad_len, GRID.max_rows, 32)
        assert plan_cost(plan_batches(*arguments, 0), 0) == plan_cost(
            per_bucket_groups(*arguments), 0
        )


class TestCheapest:
    @given(few_rows, st.integers(0, 4_096), caps)
    @settings(max_examples=60)
    def test_a_ladder_plan_is_the_cheapest_of_all_partitions(self, lengths, overhead, max_batch):
        grid = BucketGrid((64, 128, 320, 700), (1, 2, 4), token_budget=1_400)
        cost = LadderCost(overhead, grid)
        pads = [grid.pad_len(n) for n in lengths]
        cheapest = cheapest_partition(pads, grid.length_buckets, cap_of(grid, max_batch), cost.cost)
        plan = plan_queue(lengths, grid, cost, max_batch)
        assert plan_cost(plan, cost=cost) == cheapest

    @given(few_rows, st.data())
    @settings(max_examples=60)
    def test_a_measured_plan_is_the_cheapest_of_all_partitions(self, lengths, data):
        """Tables with holes, and with cells that take longer than larger ones."""
        grid = BucketGrid((100, 200, 400, 700), (1, 2, 4), token_budget=1_600)
        cells = {shape: data.draw(st.integers(1, 50)) for shape in grid.shapes}
        corners = {(grid.max_rows(t), t) for t in grid.length_buckets}
        for shape in grid.shapes:
            if shape not in corners and data.draw(st.booleans()):
                del cells[shape]
        cost = MeasuredCost(cells, grid)
        pads = [grid.pad_len(n) for n in lengths]
        cheapest = cheapest_partition(pads, grid.length_buckets, cap_of(grid, 32), cost.cost)
        plan = plan_queue(lengths, grid, cost, 32)
        assert plan_cost(plan, cost=cost) == cheapest
        for T, rows in plan:
            assert cost.shape(len(rows), T) in cells

    @given(few_rows, st.data())
    @settings(max_examples=60)
    def test_rising_caps_and_falling_costs_are_closed_over_the_queues_lengths(self, lengths, data):
        pads = [-(-n // 100) * 100 for n in lengths]
        own = {T: data.draw(st.integers(0, 500)) for T in sorted(set(pads))}
        cap = {T: data.draw(st.integers(1, 4)) for T in own}

        class Jagged(CostModel):
            def cost(self, rows: int, length: int) -> float:
                return own[length] + 30 * rows

        plan = plan_batches(
            lengths, lambda n: -(-n // 100) * 100, cap.__getitem__, 32, cost=Jagged()
        )
        cheapest = cheapest_partition(pads, sorted(own), cap.__getitem__, Jagged().cost)
        assert plan_cost(plan, cost=Jagged()) == cheapest

    @given(queues, st.integers(0, 4_096), caps)
    def test_a_ladder_plan_costs_what_the_textbook_program_finds(self, lengths, overhead, cap):
        lengths = [min(n, 8_192) for n in lengths]
        cost = LadderCost(overhead, GRID)
        plan = plan_queue(lengths, GRID, cost, cap)
        textbook = textbook_plan(lengths, GRID, cost, cap)
        assert plan_cost(plan, cost=cost) == plan_cost(textbook, cost=cost)

    @given(queues, st.integers(0, 4_096), caps)
    def test_a_plan_never_costs_more_than_per_bucket_groups(self, lengths, overhead, max_batch):
        baseline = per_bucket_groups(lengths, GRID.pad_len, GRID.max_rows, max_batch)
        for cost in (LinearCost(overhead), LadderCost(overhead, GRID)):
            plan = plan_queue(lengths, GRID, cost, max_batch)
            assert plan_cost(plan, cost=cost) <= plan_cost(baseline, cost=cost)

    @pytest.mark.skipif(
        not (SHARED / "cases/planner.json").exists(), reason="../shared/cases is not here"
    )
    def test_every_proven_case_gives_its_cheapest_cost(self):
        proven = json.loads((SHARED / "cases/planner.json").read_text())
        grid = BucketGrid.from_dict(proven["grid"])
        for case in proven["cases"]:
            for overhead, cheapest in case["cheapest_ladder_cost"].items():
                cost = LadderCost(int(overhead), grid)
                plan = plan_queue(case["lengths"], grid, cost, case["max_batch"])
                assert plan_cost(plan, cost=cost) == cheapest, case["name"]

    @pytest.mark.parametrize(
        ("lengths", "sizes"),
        [
            ([64] * 12, [12]),  # padding is cheap: one forward of 16
            ([512] * 12, [8, 4]),  # padding is dear
            ([64] * 18, [2, 16]),  # not one forward of 32
            ([64] * 33, [1, 32]),  # more rows than one forward takes
            ([60] * 4 + [8_000], [1, 4]),  # one long row among short ones
        ],
    )
    def test_ladder_plans_that_a_batching_server_got_wrong(self, lengths, sizes):
        plan = plan_queue(lengths, GRID, LadderCost(512, GRID), 32)
        assert sorted(len(rows) for _, rows in plan) == sorted(sizes)


class TestInvariants:
    @given(queues, st.integers(0, 4_096), caps)
    def test_every_row_is_in_one_group_that_covers_it_under_its_cap(self, lengths, overhead, cap):
        for cost in (LinearCost(overhead), LadderCost(overhead, GRID)):
            plan = plan_queue(lengths, GRID, cost, cap)
            check_plan(plan, lengths, GRID.pad_len, cap_of(GRID, cap))

    def test_rows_above_the_last_bucket_share_forwards_only_with_their_own_length(self):
        lengths = [9_000, 100, 9_100, 12_000, 9_001]
        plan = plan_queue(lengths, GRID, LadderCost(512, GRID))
        assert plan == [(9_216, [0, 2, 4]), (12_288, [3]), (128, [1])]

    @given(queues)
    def test_arrays_and_lists_give_the_same_plan(self, lengths):
        planner = Planner(GRID, LadderCost(512, GRID))
        assert planner.plan(np.array(lengths, dtype=np.int32)) == planner.plan(lengths)

    def test_an_empty_queue_needs_no_forward(self):
        assert plan_queue([], GRID, LadderCost(512, GRID)) == []
        assert plan_batches([], GRID.pad_len, GRID.max_rows, 32) == []
        assert per_bucket_groups([], GRID.pad_len, GRID.max_rows, 32) == []
        assert plan_cost([]) == 0

    def test_a_cost_model_of_ones_own_needs_only_a_cost(self):
        class Square(CostModel):
            __hash__ = None

            def cost(self, rows: int, length: int) -> float:
                return 200 + rows * rows * length

        assert plan_queue([64, 64, 64], GRID, Square()) == [(64, [0, 1]), (64, [2])]


class TestRefusals:
    @pytest.mark.parametrize("bad", [0, -3, 1.5, "7", None, [1]])
    @pytest.mark.parametrize("before", [2, 300])
    def test_a_bad_length_is_refused_by_row_and_value(self, bad, before):
        lengths = [*[5] * before, bad]
        for plan in (
            lambda: plan_queue(lengths, GRID, LadderCost(512, GRID)),
            lambda: plan_batches(lengths, GRID.pad_len, GRID.max_rows, 32),
            lambda: per_bucket_groups(lengths, GRID.pad_len, GRID.max_rows, 32),
        ):
            with pytest.raises(ValueError, match=f"row {before}") as error:
                plan()
            assert str(bad) in str(error.value)

    def test_a_padded_length_below_its_row_is_refused(self):
        with pytest.raises(ValueError, match="row 1: padded length 60 is below its length 61"):
            plan_batches([5, 61], lambda n: 60, GRID.max_rows, 32)

    @pytest.mark.parametrize("overhead", [-1, -0.5, math.nan, math.inf, "many", None])
    def test_a_bad_overhead_is_refused_with_its_value(self, overhead):
        with pytest.raises(ValueError, match=str(overhead)):
            plan_batches([5], GRID.pad_len, GRID.max_rows, 32, overhead)

    @pytest.mark.parametrize(
        ("price", "named"),
        [
            (lambda rows, T: 100 - rows, "2 rows of 8192 tokens is 98"),
            (lambda rows, T: math.nan, "1 rows of 8192 tokens is nan"),
            (lambda rows, T: -1, "1 rows of 8192 tokens is -1"),
        ],
    )
    def test_a_cost_that_falls_or_is_no_number_is_refused(self, price, named):
        class Bad(CostModel):
            def cost(self, rows: int, length: int) -> float:
                return price(rows, length)

        with pytest.raises(ValueError, match=named):
            plan_queue([5], GRID, Bad())


def test_the_words_of_the_linear_model():
    assert DEFAULT_MERGE_OVERHEAD_TOKENS == 512
    assert batch_cost(3, 64) == 512 + 192
    assert plan_cost([(64, [0, 1]), (128, [2])], 100) == 200 + 256
    assert group_cap(64, lambda T: 0, 32) == 1
    assert group_cap(64, lambda T: 8, 32) == 8


def test_planning_loads_neither_torch_nor_transformers():
    code = "import sys, decider, decider.batching; print([m for m in sys.modules if m in HEAVY])"
    code = code.replace("HEAVY", "('torch', 'transformers', 'pandas', 'scipy')")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
