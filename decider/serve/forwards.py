"""Running groups on an engine: its answers given out, its failures narrowed down, its death found.

A group that fails is halved until the rows that fail alone are found; they fail, the others are
answered. A row whose answer holds what is no number fails too. After every failed forward the
engine is asked to answer a row of one token: one that cannot is dead. This file knows no queue, no
plan and no HTTP.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from decider.costs import CostModel
from decider.engine import Row, Slot
from decider.grid import BucketGrid, Shape
from decider.ledger import explain
from decider.serve.device_thread import Runner
from decider.serve.errors import EngineDied
from decider.serve.requests import Request, WaitingRow
from decider.serve.statistics import Statistics

PROBE = Row((0,), (Slot(0, 2),))
"""A row that every engine answers."""

NOT_FINITE = (
    "slot {slot}: the model's probabilities are not finite; its weights are damaged, or overflow "
    "in the precision that it runs at"
)

log = logging.getLogger(__name__)


class Engine(Protocol):
    """What is asked of an engine; `decider.engine.Engine` is one."""

    grid: BucketGrid

    def forward(self, rows: Sequence[Row], length: int, batch: int | None = None) -> list[Any]:
        """Answers to one group, padded to `length` tokens and, where given, to `batch` rows."""
        ...


class Forwards:
    """Runs one group at a time.

    Args:
        engine: called where `runner` calls it, and nowhere else.
        cost: says at which shape a group runs, and what that costs.
        runner: where the engine is called.
        timeout_s: a forward that takes longer has killed its engine.
        stats: where forwards, tokens, seconds and ended requests are counted.
    """

    def __init__(
        self,
        engine: Engine,
        cost: CostModel,
        runner: Runner,
        timeout_s: float,
        stats: Statistics,
    ) -> None:
        self._engine = engine
        self._cost = cost
        self._runner = runner
        self._timeout = timeout_s
        self._stats = stats

    async def run(self, rows: Sequence[WaitingRow], length: int) -> None:
        """Answer or fail every row of a group; rows whose request has ended are left out.

        Raises:
            EngineDied: the engine can run nothing more; some rows may be neither.
        """
        pending = [rows]
        while pending:
            group = [row for row in pending.pop() if row.request.live]
            if not group:
                continue
            shape = self._shape(len(group), length)
            try:
                ran = await self._forward([row.row for row in group], shape)
            except EngineDied:
                raise
            except Exception as error:
                await self._after_failure(error)
                if len(group) == 1:
                    self._fail(group[0], error)
                else:
                    half = len(group) // 2
                    pending += [group[half:], group[:half]]
            else:
                self._answer(group, ran.answers)
                self._count(group, length, shape, ran)

    async def probe(self) -> None:
        """Run the shortest forward there is.

        Raises:
            EngineDied: it fails, or does not end in time.
        """
        try:
            await self._forward([PROBE], self._shape(1, self._engine.grid.pad_len(1)))
        except EngineDied:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise EngineDied(f"the engine does not answer a row of one token: {what}") from error

    async def _forward(self, rows: list[Row], shape: Shape) -> _Ran:
        loop = asyncio.get_running_loop()
        batch = shape.batch if self._engine.grid.is_bucketed(shape.length) else None

        def forward() -> tuple[list[Any], float]:
            began = loop.time()
            answers = self._engine.forward(rows, shape.length, batch)
            return answers, loop.time() - began

        began = loop.time()
        try:
            async with asyncio.timeout(self._timeout) as limit:
                answers, seconds = await self._runner.run(forward)
        except TimeoutError:
            if not limit.expired():
                raise  # the engine's own
            raise EngineDied(
                f"a forward of {len(rows)} rows at {shape.length} tokens did not end within "
                f"{self._timeout:g} s (DECIDER_FORWARD_TIMEOUT_S)"
            ) from None
        if len(answers) != len(rows):
            raise EngineDied(f"the engine gave {len(answers)} answers to {len(rows)} rows")
        return _Ran(answers, seconds, loop.time() - began - seconds)

    async def _after_failure(self, error: Exception) -> None:
        self._stats.failed_forwards += 1
        log.warning("a forward failed: %s: %s", type(error).__name__, error)
        try:
            await self.probe()
        except EngineDied as death:
            raise EngineDied(f"{type(error).__name__}: {error}; {death.reason}") from error

    def _shape(self, rows: int, length: int) -> Shape:
        """What the cost says it priced, where that is captured; else the least that holds it."""
        grid = self._engine.grid
        shape = self._cost.shape(rows, length)
        if not grid.is_bucketed(shape.length):
            return shape
        if shape.batch in grid.batch_buckets and grid.is_captured(*shape):
            return shape
        return Shape(grid.batch_bucket(rows), shape.length)

    def _count(self, group: Sequence[WaitingRow], length: int, shape: Shape, ran: _Ran) -> None:
        self._stats.engine_seconds += ran.engine_seconds
        self._stats.handover_seconds += ran.handover_seconds
        lengths = [row.length for row in group]
        everything = [(length, list(range(len(group))))]
        cost = _RanAt(self._cost, shape)
        ledger = explain(everything, lengths, self._engine.grid.pad_len, cost)
        self._stats.count_forward(shape, len(group), ledger)

    def _answer(self, group: Sequence[WaitingRow], answers: Sequence[Any]) -> None:
        now = asyncio.get_running_loop().time()
        for row, answer in zip(group, answers, strict=True):
            if (slot := _without_numbers(answer)) is not None:
                self._fail(row, ArithmeticError(NOT_FINITE.format(slot=slot)))
            elif row.request.answer(row.index, answer):
                self._ended(row.request, now)

    def _fail(self, row: WaitingRow, error: Exception) -> None:
        self._stats.failed_rows += 1
        if row.request.fail_row(row.index, f"{type(error).__name__}: {error}"):
            self._ended(row.request, asyncio.get_running_loop().time())

    def _ended(self, request: Request, now: float) -> None:
        if request.failures:
            self._stats.failed_requests += 1
        else:
            self._stats.answered_requests += 1
            self._stats.latency.add(now - request.arrived)


def _without_numbers(answer: Any) -> int | None:
    """The first slot of an answer that holds NaN or infinity, which JSON has no words for.

    Answers that are no lists of arrays, as engines of other kinds give, are taken as they are.
    """
    for slot, probabilities in enumerate(answer if isinstance(answer, list) else ()):
        if isinstance(probabilities, np.ndarray) and not np.isfinite(probabilities).all():
            return slot
    return None


class _Ran(NamedTuple):
    """A forward that ended well."""

    answers: list[Any]
    engine_seconds: float
    handover_seconds: float


class _RanAt(CostModel):
    """A cost as it is, for a forward that ran at a shape that the cost may know nothing of."""

    def __init__(self, cost: CostModel, shape: Shape) -> None:
        self._cost = cost
        self._shape = shape

    def cost(self, rows: int, length: int) -> float:
        return self._cost.cost(rows, length)

    def shape(self, rows: int, length: int) -> Shape:  # noqa: ARG002
        return self._shape
