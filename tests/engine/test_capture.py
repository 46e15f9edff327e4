"""Capturing a grid: everything or nothing, and an error that shows the way out."""

from __future__ import annotations

import re

import pytest

from decider.engine.capture import CaptureMemoryError, CaptureReport, capture_grid
from decider.grid import BucketGrid, Shape
from tests.engine.fakes import GRID, FakeGraphBackend


def test_every_shape_is_captured_largest_first_with_its_bytes() -> None:
    backend = FakeGraphBackend()
    told: list[tuple[int, int, Shape]] = []
    report = capture_grid(backend, GRID, lambda *news: told.append(news))
    assert sorted(report.bytes_per_shape) == sorted(GRID.shapes)
    assert next(iter(report.bytes_per_shape)) == Shape(4, 8)
    assert report.total_bytes == 10 * 32 + 7 * len(GRID.shapes)
    assert report.seconds >= 0
    assert [done for done, _, _ in told] == [*range(1, len(GRID.shapes) + 1)]
    assert {total for _, total, _ in told} == {len(GRID.shapes)}
    assert [shape for _, _, shape in told] == list(backend.graphs)


def test_a_second_capture_takes_only_what_is_missing() -> None:
    backend = FakeGraphBackend()
    capture_grid(backend, BucketGrid(length_buckets=(4,), batch_buckets=(1, 2), token_budget=8))
    report = capture_grid(backend, GRID)
    assert sorted(report.bytes_per_shape) == sorted(GRID.shapes)


def test_a_backend_without_graphs_captures_nothing() -> None:
    backend = FakeGraphBackend()
    backend.captures = False
    assert capture_grid(backend, GRID).bytes_per_shape == {}
    assert CaptureReport(0.0).total_bytes == 0


def test_out_of_memory_names_the_shape_the_memory_and_a_grid_that_fits() -> None:
    capacity = 10 * 32 + 7 * 4 + 3
    backend = FakeGraphBackend(capacity=capacity)
    with pytest.raises(CaptureMemoryError) as caught:
        capture_grid(backend, GRID)
    failed = sorted(GRID.shapes, key=lambda s: (s.batch * s.length, s))[-5]
    message = str(caught.value)
    assert f"{failed.batch} rows of {failed.length} tokens, after 4 graphs" in message
    assert "reserved" in message
    assert caught.value.shape == failed
    assert caught.value.reserved == capacity - 3
    assert caught.value.free == 3
    assert backend.graphs == {}, "nothing stays captured"

    offered = re.search(
        r"DECIDER_T_BUCKETS='(.*)' DECIDER_B_BUCKETS='(.*)' DECIDER_GRAPH_TOKEN_BUDGET=(\d+)",
        message,
    )
    assert offered is not None
    names = ("DECIDER_T_BUCKETS", "DECIDER_B_BUCKETS", "DECIDER_GRAPH_TOKEN_BUDGET")
    smaller = BucketGrid.from_env(dict(zip(names, offered.groups(), strict=True)))
    report = capture_grid(FakeGraphBackend(capacity=capacity), smaller)
    assert sorted(report.bytes_per_shape) == sorted(smaller.shapes)


def test_where_nothing_fits_the_error_says_so() -> None:
    with pytest.raises(CaptureMemoryError, match="use a smaller model or a larger device"):
        capture_grid(FakeGraphBackend(capacity=0), GRID)


def test_an_interrupted_capture_leaves_nothing_captured() -> None:
    backend = FakeGraphBackend()

    def interrupt(done: int, total: int, shape: Shape) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        capture_grid(backend, GRID, interrupt)
    assert backend.graphs == {}
