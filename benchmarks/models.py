"""The grid and the cost models that planner benchmarks plan with: the same for every commit."""

from __future__ import annotations

from benchmarks.textbook import Textbook

try:
    from decider.costs import CostModel, LadderCost, LinearCost, MeasuredCost
    from decider.grid import BucketGrid

    GRID = BucketGrid()
except ImportError:  # an older commit: its benchmarks are skipped by `needs`
    GRID = None

OVERHEAD = 512
MAX_BATCH = 32
COSTS = ("linear", "ladder", "measured")


def needs(*names: object) -> None:
    """Skip a benchmark, rather than fail it, on a commit that lacks what it measures."""
    if GRID is None or any(name is None for name in names):
        raise NotImplementedError("this commit does not have it")


def cost_model(name: str) -> CostModel:
    """The cost model of that name in `COSTS`, at `OVERHEAD`."""
    if name == "linear":
        return LinearCost(OVERHEAD)
    if name == "ladder":
        return LadderCost(OVERHEAD, GRID)
    return MeasuredCost(
        {shape: frozen_milliseconds(shape.batch, shape.length) for shape in GRID.shapes}, GRID
    )


def frozen_milliseconds(batch: int, length: int) -> float:
    """A made-up table, like a measured one where it matters to a planner.

    It has a fixed cost, a term in the square of the length, and cells out of line by up to 8%, some
    of them slower than larger cells.
    """
    wobble = 1 + 0.08 * ((batch * 7 + length // 64 * 13) % 5 - 2) / 2
    return wobble * (2.0 + 0.004 * batch * length * (1 + length / 20_000))


def cap(length: int) -> int:
    """Rows that one forward takes at a padded length."""
    return int(min(MAX_BATCH, GRID.max_rows(length)))


def textbook(name: str) -> Textbook:
    """The textbook program on the same grid, cost and cap."""
    return Textbook(GRID.length_buckets, cap, cost_model(name).cost)
