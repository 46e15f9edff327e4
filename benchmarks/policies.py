"""The batching policies that are compared, and what their costs are derived from.

A policy is what a batcher asks of its planner: `plan`, and the `cost` whose shapes run. Knows
grids, costs and plans; runs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from decider.costs import CostModel
    from decider.grid import BucketGrid

PER_BUCKET = "per-bucket"
NAMES = (PER_BUCKET, "linear 512", "linear", "ladder", "measured")
"""The first is what the others are compared with. "linear 512" has the constant of another machine;
the last three have what was measured on the machine at hand."""

FOREIGN_OVERHEAD = 512
MAX_BATCH = 32


class PerBucket:
    """Rows of one length bucket share forwards, filled to the cap in arrival order."""

    def __init__(self, grid: BucketGrid) -> None:
        from decider.costs import LadderCost

        self._grid = grid
        self.cost: CostModel = LadderCost(0, grid)  # for its shapes; nothing is priced

    def plan(self, lengths: Sequence[int]) -> list[tuple[int, list[int]]]:
        """Groups over the rows of `lengths`."""
        from decider.batching import per_bucket_groups

        return per_bucket_groups(lengths, self._grid.pad_len, self._grid.max_rows, MAX_BATCH)


def policies(grid: BucketGrid, milliseconds: Mapping[tuple[int, int], float]) -> dict[str, Any]:
    """The policies by name, in the order of `NAMES`.

    Args:
        milliseconds: measured, by (batch, length) of every shape of the grid.
    """
    from decider.batching import Planner
    from decider.costs import LadderCost, LinearCost, MeasuredCost

    overhead = overhead_tokens(milliseconds)
    return {
        PER_BUCKET: PerBucket(grid),
        "linear 512": Planner(grid, LinearCost(FOREIGN_OVERHEAD), MAX_BATCH),
        "linear": Planner(grid, LinearCost(overhead), MAX_BATCH),
        "ladder": Planner(grid, LadderCost(overhead, grid), MAX_BATCH),
        "measured": Planner(grid, MeasuredCost(milliseconds, grid), MAX_BATCH),
    }


def overhead_tokens(milliseconds: Mapping[tuple[int, int], float]) -> float:
    """The fixed cost of a forward, in token-units: intercept over slope of time against B*T.

    The line has the least squares of relative errors, since noise grows with the time: each cell is
    weighted by 1/time. Never below 0.
    """
    tokens = np.array([batch * length for batch, length in milliseconds], dtype=float)
    times = np.array(list(milliseconds.values()))
    slope, intercept = np.polyfit(tokens, times, 1, w=1 / times)
    return max(0.0, float(intercept / slope))
