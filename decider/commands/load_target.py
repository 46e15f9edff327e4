"""Where `decider load` sends its rows: a server over HTTP, or a batcher that it opens itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from decider.serve.answer_check import AnswerCheck
    from decider.serve.batcher import Batcher
    from decider.serve.targets import Target


@asynccontextmanager
async def open_target(options: Mapping[str, Any]) -> AsyncIterator[tuple[Target, AnswerCheck]]:
    """The target that the command's options name, ready, and a check that fits it; then closed.

    Raises:
        ValueError: a setting, the address or the table is refused.
        TargetError: no healthy server answers at the address.
    """
    from decider.serve.answer_check import NumberedRows, RepeatedRows
    from decider.serve.targets import BatcherTarget, HttpTarget

    repeated = RepeatedRows(options["seed"], options["tolerance"])
    if options["stand_in"]:
        async with _stand_in_batcher(options["stand_in"]) as batcher:
            yield BatcherTarget(batcher), NumberedRows()
    elif options["in_process"]:
        async with _own_batcher() as batcher:
            yield BatcherTarget(batcher), repeated
    else:
        async with HttpTarget(options["url"]) as target:
            await target.ready()
            yield target, repeated


@asynccontextmanager
async def _own_batcher() -> AsyncIterator[Batcher]:
    """The batcher that `decider serve` would open with the same `DECIDER_*` variables."""
    from decider.serve.opening import open_batcher
    from decider.serve.settings import read_settings

    opened = open_batcher(read_settings())
    for note in opened.notes():
        click.echo(note, err=True)
    with opened.engine:
        await opened.batcher.start(opened.engine.capture)
        try:
            yield opened.batcher
        finally:
            await opened.batcher.close()


@asynccontextmanager
async def _stand_in_batcher(path: Path) -> AsyncIterator[Batcher]:
    from decider import costs
    from decider.batching import Planner
    from decider.serve.batcher import Batcher
    from decider.serve.stand_in import StandInEngine, table_grid

    measured = costs.load(path)
    if not isinstance(measured, costs.MeasuredCost):
        raise ValueError(f"{path}: a stand-in needs a measured table, not a constant")
    grid = table_grid(measured)
    measured = costs.MeasuredCost(
        {(batch, length): ms for (batch, length), ms in measured.cells.items()}, grid
    )  # again, since it must cover the grid
    async with Batcher(StandInEngine(grid, measured), Planner(grid, measured)) as batcher:
        yield batcher
