"""The stand-in engine: times of the table, answers of the rows, a grid that holds its cells."""

from __future__ import annotations

import pytest

from decider.costs import MeasuredCost
from decider.engine.rows import Row, Slot
from decider.grid import CPU_GRID, BucketGrid
from decider.serve.answer_check import numbered_answer
from decider.serve.stand_in import StandInEngine, table_grid

GRID = BucketGrid(length_buckets=(4, 8), batch_buckets=(1, 2, 4), token_budget=16)
MEASURED = MeasuredCost({(b, t): float(b * t + 10) for b, t in GRID.shapes}, GRID)


def test_a_forward_takes_the_time_of_its_shape_and_answers_each_row_its_own():
    slept: list[float] = []
    engine = StandInEngine(GRID, MEASURED, slept.append)
    rows = [Row([number, 0], (Slot(1, 4),)) for number in range(3)]
    answers = engine.forward(rows, 4, 4)
    engine.forward(rows[:1], 8)
    assert slept == pytest.approx([0.026, 0.018], rel=1e-3)
    for row, answer in zip(rows, answers, strict=True):
        assert answer[0].tolist() == numbered_answer(row)[0].tolist()


@pytest.mark.parametrize(
    "grid", [GRID, CPU_GRID, BucketGrid(length_buckets=(8,), batch_buckets=(1,))]
)
def test_the_grid_of_a_table_captures_its_cells(grid):
    found = table_grid(MeasuredCost(dict.fromkeys(grid.shapes, 1.0)))
    assert found.shapes == grid.shapes
