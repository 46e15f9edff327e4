"""The smaller grid that is offered when memory runs out."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from decider.engine.ladder import capture_order, fitting_grid
from decider.grid import BucketGrid, Shape

GRID = BucketGrid(length_buckets=(64, 128, 256), batch_buckets=(1, 2, 4), token_budget=512)


def captured_until_full(
    grid: BucketGrid, capacity: int, per_token: int, per_graph: int
) -> tuple[dict[Shape, int], Shape | None]:
    """What a device of exactly this arithmetic captures, and the shape it fails at."""
    captured: dict[Shape, int] = {}
    for shape in capture_order(grid):
        size = per_graph + (0 if captured else per_token * shape.batch * shape.length)
        if sum(captured.values()) + size > capacity:
            return captured, shape
        captured[shape] = size
    return captured, None


def test_the_largest_forward_is_captured_first() -> None:
    assert capture_order(GRID)[:2] == [Shape(4, 128), Shape(2, 256)]
    assert capture_order(GRID)[-1] == Shape(1, 64)
    assert sorted(capture_order(GRID)) == sorted(GRID.shapes)


def test_when_graphs_fill_the_memory_a_grid_that_fits_it_is_offered() -> None:
    capacity, per_token, per_graph = 5_570, 10, 100
    captured, failed = captured_until_full(GRID, capacity, per_token, per_graph)
    assert (len(captured), failed) == (4, Shape(1, 256))
    fitting = fitting_grid(GRID, captured, Shape(1, 256), capacity - sum(captured.values()))
    assert fitting == replace(GRID, token_budget=256)
    assert captured_until_full(fitting, capacity, per_token, per_graph)[1] is None


def test_when_the_first_does_not_fit_half_its_tokens_are_offered() -> None:
    fitting = fitting_grid(GRID, {}, Shape(4, 128), free=1_000)
    assert fitting is not None
    assert max(shape.batch * shape.length for shape in fitting.shapes) == 256


def test_a_full_device_is_offered_nothing() -> None:
    assert fitting_grid(GRID, {}, Shape(4, 128), free=0) is None


grids = st.builds(
    BucketGrid,
    length_buckets=st.sets(st.integers(1, 40), min_size=1, max_size=6).map(sorted),
    batch_buckets=st.sets(st.integers(1, 8), min_size=1, max_size=3).map(
        lambda sizes: sorted({1, *sizes})
    ),
    token_budget=st.integers(1, 200),
)


@given(
    grid=grids,
    capacity=st.integers(0, 5_000),
    per_token=st.integers(1, 20),
    per_graph=st.integers(1, 200),
)
def test_an_offered_grid_is_smaller_and_fits_where_the_rates_were_seen(
    grid: BucketGrid, capacity: int, per_token: int, per_graph: int
) -> None:
    captured, failed = captured_until_full(grid, capacity, per_token, per_graph)
    if failed is None:
        return
    free = capacity - sum(captured.values())
    fitting = fitting_grid(grid, captured, failed, free)
    if fitting is None:
        return
    assert set(fitting.shapes) < set(grid.shapes)
    if len(captured) >= 2:  # both rates were measured, so the estimate is no guess
        assert captured_until_full(fitting, capacity, per_token, per_graph)[1] is None
