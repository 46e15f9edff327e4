"""Cost models: what a forward costs, what they refuse, and that files bring them back."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider import costs
from decider.costs import LadderCost, LinearCost, MeasuredCost
from decider.grid import BucketGrid, Shape

GRID = BucketGrid()
CELLS = {(1, 64): 1.0, (4, 64): 2.0, (1, 128): 1.5, (4, 128): 4.0}

tables = st.dictionaries(
    st.tuples(st.integers(1, 8), st.integers(1, 8).map(lambda k: 64 * k)),
    st.floats(0.01, 100),
    min_size=1,
)


def test_linear_cost_counts_the_rows_themselves():
    assert LinearCost(512).cost(3, 64) == 512 + 3 * 64
    assert LinearCost(512).shape(3, 64) == Shape(3, 64)


def test_ladder_cost_counts_the_batch_bucket():
    cost = LadderCost(512, GRID)
    assert cost.cost(3, 64) == 512 + 4 * 64
    assert cost.shape(3, 64) == Shape(4, 64)


def test_ladder_cost_above_the_last_bucket_counts_the_rows_that_run_eager():
    cost = LadderCost(512, GRID)
    assert cost.cost(3, 9_216) == 512 + 3 * 9_216
    assert cost.shape(3, 9_216) == Shape(3, 9_216)


@given(st.integers(1, 32), st.integers(1, 32), st.sampled_from(GRID.length_buckets))
def test_between_sizes_the_ladder_cost_is_that_of_the_larger(rows, cap, length):
    cost = LadderCost(512, GRID)
    sizes = cost.sizes(length, cap)
    assert sizes[-1] == cap
    if rows <= cap:
        larger = min(size for size in sizes if size >= rows)
        assert cost.cost(rows, length) == cost.cost(larger, length)


@pytest.mark.parametrize("overhead", [-1, math.nan, math.inf, None, "many", True])
@pytest.mark.parametrize("model", [LinearCost, LadderCost])
def test_a_bad_overhead_is_refused_with_its_value(model, overhead):
    with pytest.raises(ValueError, match=str(overhead)):
        model(overhead)


def test_an_overhead_is_kept_to_a_1024th_so_that_sums_are_exact():
    assert LinearCost(0.1).overhead == round(0.1 * 1024) / 1024
    assert LinearCost(512.0).overhead == 512


@given(tables, st.integers(1, 8), st.integers(1, 512))
def test_measured_cost_is_the_fastest_cell_that_holds_the_group(table, rows, length):
    cost = MeasuredCost(table)
    holding = [ms for (b, t), ms in table.items() if b >= rows and t >= length]
    longest = max(t for _, t in table)
    if holding:
        assert cost.milliseconds(rows, length) == pytest.approx(min(holding), rel=1e-2, abs=1e-2)
        shape = cost.shape(rows, length)
        assert table[shape] == min(holding)
        assert shape.batch >= rows
        assert shape.length >= length
    elif length <= longest:
        with pytest.raises(ValueError, match=f"{rows} rows of {length}"):
            cost.cost(rows, length)


@given(tables)
def test_measured_cost_never_falls_as_rows_or_tokens_are_added(table):
    cost = MeasuredCost(table)
    longest = max(t for _, t in table)
    for length in range(64, longest + 1, 64):
        sizes = cost.sizes(length, 8)
        by_size = [cost.cost(size, length) for size in sizes]
        assert by_size == sorted(by_size)
        if length > 64:
            assert all(cost.cost(s, length - 64) <= cost.cost(s, length) for s in sizes)


def test_the_largest_cell_sets_the_token_unit():
    cost = MeasuredCost(CELLS)
    assert cost.milliseconds_per_token == 4.0 / (4 * 128)
    assert cost.cost(4, 128) == 4 * 128


def test_beyond_the_longest_cell_each_further_token_costs_one_unit():
    cost = MeasuredCost(CELLS)
    assert cost.cost(1, 1_024) == cost.cost(1, 128) + 1_024 - 128
    assert cost.shape(3, 1_024) == Shape(3, 1_024)


@pytest.mark.parametrize(
    ("cells", "named"),
    [
        ({}, "at least one cell"),
        ({(1, 64): -1.0}, r"\(1, 64\).*-1.0"),
        ({(1, 64): 0.0}, r"\(1, 64\)"),
        ({(1, 64): math.nan}, "nan"),
        ({(1, 64): math.inf}, "inf"),
        ({(0, 64): 1.0}, r"\(0, 64\)"),
        ({(1, 64.5): 1.0}, "64.5"),
    ],
)
def test_a_bad_table_is_refused_by_cell_and_value(cells, named):
    with pytest.raises(ValueError, match=named):
        MeasuredCost(cells)


def test_a_table_that_does_not_cover_the_grid_is_refused():
    grid = BucketGrid((64, 128), (1, 4))
    assert MeasuredCost(CELLS, grid).cost(4, 128) == 512
    with pytest.raises(ValueError, match="4 rows of 128 tokens"):
        MeasuredCost({k: v for k, v in CELLS.items() if k != (4, 128)}, grid)


def test_cells_that_the_grid_does_not_capture_cannot_run_and_are_not_used():
    grid = BucketGrid((64, 128), (1, 4))
    assert MeasuredCost({**CELLS, (8, 256): 0.5}, grid).shape(1, 64) == Shape(1, 64)


@pytest.mark.parametrize(
    "cost", [LinearCost(512), LadderCost(136.5, BucketGrid((64,), (1, 2))), MeasuredCost(CELLS)]
)
def test_files_bring_the_model_back(cost, tmp_path):
    costs.save(cost, tmp_path / "cost.json")
    assert json.loads((tmp_path / "cost.json").read_text())["schema"] == "decider.cost/1"
    assert costs.load(tmp_path / "cost.json") == cost


def test_a_grid_file_of_a_measurement_is_a_measured_cost(tmp_path):
    cells = [{"batch": b, "length": t, "milliseconds": ms} for (b, t), ms in CELLS.items()]
    values = {"schema": "decider.grid/1", "model": "tiny", "cells": cells}
    path = tmp_path / "grid.json"
    path.write_text(json.dumps({**values, "environment": {"machine": "here"}}))
    cost = costs.load(path)
    assert cost == MeasuredCost(CELLS)
    assert cost.source == "tiny here"


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ([], "list"),
        ({"schema": "other"}, "other"),
        ({"schema": "decider.cost/1", "kind": "cubic"}, "cubic"),
        ({"schema": "decider.cost/1", "kind": "linear"}, "overhead"),
        ({"schema": "decider.cost/1", "kind": "linear", "overhead": -3}, "-3"),
        (
            {
                "schema": "decider.cost/1",
                "kind": "measured",
                "cells": [{"batch": 1, "length": 64, "milliseconds": 1}] * 2,
            },
            "twice",
        ),
    ],
)
def test_a_file_that_holds_no_model_is_refused_by_name(values, named, tmp_path):
    path = tmp_path / "cost.json"
    path.write_text(json.dumps(values))
    with pytest.raises(ValueError, match=named) as error:
        costs.load(path)
    assert str(path) in str(error.value)


def test_a_file_that_is_missing_or_no_json_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"nowhere\.json"):
        costs.load(tmp_path / "nowhere.json")
    (tmp_path / "half.json").write_text('{"schema": ')
    with pytest.raises(ValueError, match=r"half\.json"):
        costs.load(tmp_path / "half.json")
