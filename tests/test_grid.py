"""The grid: its default shapes, its arithmetic, what it refuses and what it remarks on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.grid import CPU_GRID, BucketGrid, Shape

ladders = st.lists(st.integers(1, 5_000), min_size=1, max_size=12, unique=True).map(
    lambda values: tuple(sorted(values))
)
grids = st.builds(
    BucketGrid,
    length_buckets=ladders,
    batch_buckets=ladders.map(lambda ladder: tuple(sorted({min(b, 64) for b in ladder}))),
    token_budget=st.integers(1, 50_000),
    long_step=st.integers(1, 3_000),
)


def test_the_default_grid_captures_89_shapes():
    assert len(BucketGrid().shapes) == 89
    assert BucketGrid().shapes[0] == Shape(1, 64)
    assert all(b == 1 or b * t <= 32_768 for b, t in BucketGrid().shapes)


def test_the_cpu_grid_is_the_short_part_of_the_default():
    assert CPU_GRID.length_buckets[-1] == 1_024
    assert max(b * t for b, t in CPU_GRID.shapes) == 4_096


@pytest.mark.parametrize(
    ("tokens", "padded"),
    [(1, 64), (64, 64), (65, 128), (8_192, 8_192), (8_193, 9_216), (9_216, 9_216), (9_217, 10_240)],
)
def test_a_row_runs_at_the_smallest_length_that_covers_it(tokens, padded):
    assert BucketGrid().pad_len(tokens) == padded


@given(grids, st.lists(st.integers(1, 20_000), max_size=50))
def test_pad_lens_is_pad_len_of_every_row(grid, lengths):
    padded = [grid.pad_len(n) for n in lengths]
    assert grid.pad_lens(lengths).tolist() == padded
    assert grid.pad_lens(np.array(lengths, dtype=np.int32)).tolist() == padded


@given(grids, st.integers(1, 20_000))
def test_padding_covers_and_is_tight(grid, n):
    padded = grid.pad_len(n)
    assert padded >= n
    if grid.is_bucketed(n):
        assert padded == min(t for t in grid.length_buckets if t >= n)
    else:
        assert padded % grid.long_step == 0
        assert padded - n < grid.long_step


@given(grids)
def test_max_rows_is_the_widest_captured_bucket(grid):
    for length in grid.length_buckets:
        captured = [b for b, t in grid.shapes if t == length]
        assert grid.max_rows(length) == max(captured, default=1)


def test_rows_above_the_last_bucket_run_within_the_token_budget():
    grid = BucketGrid()
    assert grid.max_rows(9_216) == 3
    assert grid.max_rows(100_000) == 1


def test_batch_bucket_rounds_up_and_refuses_what_no_bucket_holds():
    grid = BucketGrid()
    assert [grid.batch_bucket(n) for n in (1, 2, 3, 17, 32)] == [1, 2, 4, 32, 32]
    for rows in (0, 33):
        with pytest.raises(ValueError, match=str(rows)):
            grid.batch_bucket(rows)


@pytest.mark.parametrize(
    ("ladder", "named"),
    [
        ((), "at least one"),
        ((64, 32), "32 stands after 64"),
        ((64, 64), "64 twice"),
        ((0, 64), "not 0"),
        ((-64,), "not -64"),
        ((64.5,), "64.5"),
        (("64",), "'64'"),
        ((True, 2), "True"),
        ("64 128", "64 128"),
        (64, "64"),
    ],
)
@pytest.mark.parametrize("name", ["length_buckets", "batch_buckets"])
def test_a_bad_ladder_is_refused_by_name_and_value(name, ladder, named):
    with pytest.raises(ValueError, match=named) as error:
        BucketGrid(**{name: ladder})
    assert name in str(error.value)


@pytest.mark.parametrize("name", ["token_budget", "long_step"])
@pytest.mark.parametrize("value", [0, -1, 1.5, None])
def test_a_bad_scalar_is_refused_by_name_and_value(name, value):
    with pytest.raises(ValueError, match=f"{name}.*{value}"):
        BucketGrid(**{name: value})


@pytest.mark.parametrize("n", [0, -1, 1.5, "7", None])
def test_a_bad_row_length_is_refused(n):
    with pytest.raises(ValueError, match="row length"):
        BucketGrid().pad_len(n)


def test_pad_lens_names_the_bad_row():
    with pytest.raises(ValueError, match="row 2: length 0"):
        BucketGrid().pad_lens([5, 6, 0])
    with pytest.raises(ValueError, match="one-dimensional"):
        BucketGrid().pad_lens(np.ones((2, 2), dtype=int))


def test_the_environment_sets_the_ladders():
    environ = {
        "DECIDER_T_BUCKETS": "64, 128,256",
        "DECIDER_B_BUCKETS": "1 4",
        "DECIDER_GRAPH_TOKEN_BUDGET": "512",
    }
    assert BucketGrid.from_env(environ) == BucketGrid((64, 128, 256), (1, 4), 512)
    assert BucketGrid.from_env({}) == BucketGrid()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DECIDER_T_BUCKETS", "64 x"),
        ("DECIDER_T_BUCKETS", ""),
        ("DECIDER_B_BUCKETS", "4 1"),
        ("DECIDER_GRAPH_TOKEN_BUDGET", "0"),
        ("DECIDER_GRAPH_TOKEN_BUDGET", "1e4"),
    ],
)
def test_a_bad_variable_is_refused_by_name_and_value(variable, value):
    with pytest.raises(ValueError, match=f"{variable}='{value}'"):
        BucketGrid.from_env({variable: value})


@given(grids)
def test_json_values_bring_the_grid_back(grid):
    again = BucketGrid.from_dict(grid.to_dict())
    assert again == grid
    assert hash(again) == hash(grid)


def test_json_values_with_a_missing_or_unknown_field_are_refused():
    values = BucketGrid().to_dict()
    with pytest.raises(ValueError, match="unknown fields: extra"):
        BucketGrid.from_dict({**values, "extra": 1})
    del values["long_step"]
    with pytest.raises(ValueError, match="without long_step"):
        BucketGrid.from_dict(values)


def test_a_grid_cannot_be_changed():
    with pytest.raises(AttributeError):
        BucketGrid().token_budget = 1  # type: ignore[misc]


def codes(grid: BucketGrid, **limits: int) -> list[str]:
    return [finding.code for finding in grid.lint(**limits)]


def test_lint_has_nothing_to_say_of_the_default():
    assert codes(BucketGrid(), max_batch=32, max_row_tokens=8_192) == []


@pytest.mark.parametrize(
    ("grid", "limits", "expected"),
    [
        (BucketGrid(), {"max_batch": 64}, ["max-batch-above-ladder"]),
        (BucketGrid(), {"max_batch": 20}, ["max-batch-off-ladder"]),
        (BucketGrid(), {"max_batch": 8}, ["unreachable-batch"]),
        (BucketGrid(), {"max_batch": 12}, ["max-batch-off-ladder", "unreachable-batch"]),
        (BucketGrid(), {"max_row_tokens": 1_000}, ["unreachable-length"]),
        (BucketGrid(batch_buckets=(2, 4)), {}, ["no-batch-bucket-1"]),
        (
            BucketGrid((64, 8_192), (2, 4), token_budget=8_192),
            {},
            ["no-batch-bucket-1", "length-without-shape"],
        ),
        (BucketGrid((64,), (1, 64), token_budget=1_024), {}, ["batch-bucket-over-budget"]),
    ],
)
def test_lint_names_what_is_wasteful_or_unreachable(grid, limits, expected):
    assert codes(grid, **limits) == expected


def test_lint_messages_name_the_values():
    (finding,) = BucketGrid().lint(max_batch=20)
    assert "20" in finding.message
    assert "12 of them empty" in finding.message
