"""A smaller grid that fits the memory, estimated from the graphs that did.

Graphs share one pool, so memory grows with the largest forward (its activations, held once) and
with the number of graphs (their nodes, held each). Both rates are read off the graphs captured
before memory ran out. This file knows shapes and bytes only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import fmean

from decider.grid import BucketGrid, Shape


def capture_order(grid: BucketGrid) -> list[Shape]:
    """The grid's shapes, largest first: the first graph makes the pool that the others reuse."""
    return sorted(grid.shapes, key=lambda shape: (shape.batch * shape.length, shape), reverse=True)


def fitting_grid(
    grid: BucketGrid, captured: Mapping[Shape, int], failed: Shape, free: int
) -> BucketGrid | None:
    """The grid with most shapes that should fit; None where even one shape should not.

    Candidates keep a prefix of the length ladder and halve the token budget any number of times.
    Where too little was captured to tell, the failed graph is taken to need twice what was free.

    Args:
        grid: what was being captured, in `capture_order`.
        captured: bytes of each graph that fitted, in the order of capture.
        failed: the shape that did not.
        free: bytes it would have had.
    """
    available = sum(captured.values()) + free
    if available <= 0:
        return None
    per_token, per_graph = _rates(captured, failed, free)
    fitting = [
        candidate
        for candidate in _smaller_grids(grid)
        if per_token * _largest(candidate) + per_graph * len(candidate.shapes) <= available
    ]
    return max(fitting, key=lambda g: (len(g.shapes), g.token_budget), default=None)


def _rates(captured: Mapping[Shape, int], failed: Shape, free: int) -> tuple[float, float]:
    """Bytes for each token of the largest forward, and for each graph."""
    if not captured:
        return 2 * free / (failed.batch * failed.length), 0.0
    (first, size), *others = captured.items()
    per_graph = fmean(other for _, other in others) if others else 2.0 * free
    return size / (first.batch * first.length), per_graph


def _largest(grid: BucketGrid) -> int:
    return max(shape.batch * shape.length for shape in grid.shapes)


def _smaller_grids(grid: BucketGrid) -> Iterator[BucketGrid]:
    budget = grid.token_budget
    while budget >= 1:
        for count in range(len(grid.length_buckets), 0, -1):
            candidate = replace(
                grid, length_buckets=grid.length_buckets[:count], token_budget=budget
            )
            if candidate.shapes and len(candidate.shapes) < len(grid.shapes):
                yield candidate
        budget //= 2
