"""An engine without a model: it takes the time a table says and answers a value known beforehand.

It shows what the batcher does with a grid and costs that are not at hand, and that no answer is
lost, doubled or swapped. Knows rows and times; no torch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from decider.costs import MeasuredCost
from decider.engine.rows import Row
from decider.grid import BucketGrid
from decider.serve.answer_check import numbered_answer


def table_grid(measured: MeasuredCost) -> BucketGrid:
    """The smallest grid that captures every shape of a measured table."""
    wide = [shape.batch * shape.length for shape in measured.cells if shape.batch > 1]
    return BucketGrid(
        length_buckets=tuple(sorted({shape.length for shape in measured.cells})),
        batch_buckets=tuple(sorted({shape.batch for shape in measured.cells})),
        token_budget=max(wide, default=1),
    )


class StandInEngine:
    """Answers each row with `numbered_answer`, after as long as its forward was measured to take.

    Args:
        grid: the shapes it pretends to have captured.
        measured: milliseconds by shape.
        sleep: takes seconds.
    """

    def __init__(
        self,
        grid: BucketGrid,
        measured: MeasuredCost,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.grid = grid
        self._measured = measured
        self._sleep = sleep

    def forward(self, rows: Sequence[Row], length: int, batch: int | None = None) -> list[Any]:
        """The answers to one group."""
        self._sleep(self._measured.milliseconds(batch or len(rows), length) / 1000)
        return [numbered_answer(row) for row in rows]
