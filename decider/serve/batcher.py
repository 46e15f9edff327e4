"""The batcher: rows that arrive over time in, answers out, one forward at a time.

It collects what waits, plans it, runs ONE group, answers it, and plans again with what has arrived
meanwhile. Which group runs is the age rule: the one that holds the oldest row. So the oldest row is
never overtaken, and a row that finds k rows waiting runs within k + 1 forwards of its arrival, the
forward in progress not counted. docs/SERVING.md has the policy as a whole. This file knows no HTTP,
no torch and no model.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Protocol, Self

from decider.costs import CostModel
from decider.engine import Row
from decider.ledger import Group
from decider.serve.device_thread import DeviceThread, Runner
from decider.serve.errors import EngineDied, Overloaded, UnavailableError
from decider.serve.forwards import Engine, Forwards
from decider.serve.requests import Request, RowQueue, WaitingRow
from decider.serve.statistics import Statistics

QUIET_SECONDS = 0.05
"""After so long without a row waiting or running the adaptive window is closed."""

PLANNED_ROWS = 1_024
"""The oldest rows of the queue that are planned at once: dozens of forwards, enough to choose from,
and planning them before each forward takes a fraction of what planning a full queue does."""

LONGEST_RETRY_SECONDS = 60

log = logging.getLogger(__name__)


class Planning(Protocol):
    """What the batcher asks of a planner; `decider.batching.Planner` is one."""

    cost: CostModel

    def plan(self, lengths: Sequence[int]) -> list[Group]:
        """Groups over the rows of `lengths`, each row in exactly one."""
        ...


class Batcher:
    """Answers requests with one engine. Use it from one event loop, which starts and closes it.

    Args:
        engine: runs the groups; called from the runner only.
        planner: forms the groups and prices them. It must keep to the engine's grid.
        max_batch: rows that fill a forward: with so many waiting no window is waited for.
        wait_ms: how long the oldest row may wait for company while the engine is idle.
        adaptive_wait_ms: the same while the adaptive window is open, which it is from a collection
            that held more than one live request until `QUIET_SECONDS` pass with nothing to do.
        max_queue_rows: rows that may wait.
        forward_timeout_s: a forward that takes longer has killed its engine.
        runner: where the engine is called; by default a thread of its own.

    Attributes:
        stats: what has been done so far.
    """

    def __init__(
        self,
        engine: Engine,
        planner: Planning,
        *,
        max_batch: int = 32,
        wait_ms: float = 0,
        adaptive_wait_ms: float = 2,
        max_queue_rows: int = 4_096,
        forward_timeout_s: float = 120,
        runner: Runner | None = None,
    ) -> None:
        self.stats = Statistics()
        self._planner = planner
        self._max_batch = max_batch
        self._wait = wait_ms / 1000
        self._adaptive_wait = adaptive_wait_ms / 1000
        self._max_queue_rows = max_queue_rows
        self._runner = runner or DeviceThread()
        self._forwards = Forwards(engine, planner.cost, self._runner, forward_timeout_s, self.stats)
        self._queue = RowQueue()
        self._running: Sequence[WaitingRow] = ()
        self._arrived = asyncio.Event()
        self._filled = asyncio.Event()
        self._window_open = False
        self._refusal: UnavailableError | None = UnavailableError("the engine is starting")
        self._closing = False
        self._worker: asyncio.Task[None] | None = None

    @property
    def healthy(self) -> bool:
        """Whether requests are taken: started, not closing, the engine alive."""
        return self._refusal is None

    @property
    def reason(self) -> str | None:
        """Why it is not healthy."""
        return None if self._refusal is None else self._refusal.reason

    @property
    def queued_rows(self) -> int:
        """Rows that wait now, those of a running forward not counted."""
        return len(self._queue)

    async def start(self, prepare: Callable[[], object] | None = None) -> None:
        """Prepare the engine and take requests from then on.

        Args:
            prepare: called first where the engine is called, such as `engine.capture`.

        Raises:
            EngineDied: the engine does not answer a row of one token.
            Exception: whatever `prepare` raises.
        """
        self._runner.start()
        try:
            if prepare is not None:
                await self._runner.run(prepare)
            await self._forwards.probe()
        except BaseException as error:
            self._refusal = EngineDied(f"the engine did not start: {error}")
            self._runner.stop()
            raise
        self._refusal = None
        self._worker = asyncio.create_task(self._work(), name="decider-batcher")

    async def close(self) -> None:
        """Take no more requests, answer all that were taken, and let the engine's thread end.

        Cancelled, it fails what is still waiting instead. Closing twice does nothing more.
        """
        if self._refusal is None:
            self._refusal = UnavailableError("the server is shutting down")
        self._closing = True
        self._arrived.set()
        self._filled.set()
        if self._worker is None:
            return
        try:
            await asyncio.shield(self._worker)
        except asyncio.CancelledError:
            self._worker.cancel()
            raise
        finally:
            self._runner.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def submit(self, rows: Sequence[Row]) -> list[Any]:
        """Answer the rows of one request. Cancelled, they leave the queue.

        Returns:
            What the engine answered, in the order of the rows.

        Raises:
            ValueError: a row without tokens.
            Overloaded: the queue has no room for them.
            EngineDied: the engine has died, before or meanwhile.
            UnavailableError: it is not started yet, or closing.
            RowsFailedError: some of the rows failed; the error holds the answers of the others.
        """
        for index, row in enumerate(rows):
            if len(row.tokens) == 0:
                raise ValueError(f"row {index}: no tokens")
        if self._refusal is not None:
            self.stats.rejections["unavailable"] += 1
            raise type(self._refusal)(self._refusal.reason)
        if len(self._queue) + len(rows) > self._max_queue_rows:
            self.stats.rejections["overloaded"] += 1
            raise Overloaded(self._max_queue_rows, self._retry_after())
        if not rows:
            return []
        loop = asyncio.get_running_loop()
        request = Request(rows, loop.create_future(), loop.time())
        self._join(request)
        try:
            return await request.answered
        except asyncio.CancelledError:
            if request.answered.cancelled():  # and not answered at the same moment
                self.stats.cancelled_requests += 1
                self.stats.cancelled_rows += self._queue.leave(request.rows)
            raise

    def _join(self, request: Request) -> None:
        self._queue.join(request.rows)
        self.stats.requests += 1
        self.stats.peak_queued_rows = max(self.stats.peak_queued_rows, len(self._queue))
        self._arrived.set()
        if len(self._queue) >= self._max_batch:
            self._filled.set()

    async def _work(self) -> None:
        try:
            while await self._collect():
                length, rows = self._next_group()
                self._running = rows
                await self._forwards.run(rows, length)
                self._running = ()
        except asyncio.CancelledError:
            self._die(UnavailableError("the server was stopped before it could answer"))
        except EngineDied as error:
            self._die(error)
        except Exception as error:  # a planner's or our own: nobody may be left waiting for it
            log.exception("the batcher failed")
            self._die(EngineDied(f"the batcher failed: {type(error).__name__}: {error}"))

    def _die(self, error: UnavailableError) -> None:
        log.error("%s", error.reason)
        self._refusal = error
        waiting = [*self._running, *self._queue]
        self._running = ()
        self._queue.leave(waiting)
        for row in waiting:
            if row.request.fail(type(error)(error.reason)):
                self.stats.failed_requests += 1
        self._runner.stop()

    async def _collect(self) -> bool:
        """Wait until there are rows to plan; false when there never will be."""
        await asyncio.sleep(0)  # lets those just answered ask again before their turn is planned
        while True:
            if not self._queue and not await self._wait_for_a_row():
                return False
            await self._wait_for_company()
            if self._queue:
                break
        self.stats.collections += 1
        self._window_open = self._window_open or self._queue.holds_several_requests()
        return True

    async def _wait_for_a_row(self) -> bool:
        clock = asyncio.get_running_loop().time
        began = clock()
        while not self._queue:
            if self._closing:
                return False
            self._arrived.clear()
            await self._arrived.wait()
        idle = clock() - began
        self.stats.idle_seconds += idle
        if idle >= QUIET_SECONDS:
            self._window_open = False
        return True

    async def _wait_for_company(self) -> None:
        """The window is counted from the oldest row's arrival: a forward it waited for counts."""
        wait = max(self._wait, self._adaptive_wait if self._window_open else 0)
        oldest = self._queue.oldest(1)[0].request.arrived
        clock = asyncio.get_running_loop().time
        began = clock()
        if oldest + wait <= began or len(self._queue) >= self._max_batch or self._closing:
            return
        self._filled.clear()
        try:
            async with asyncio.timeout_at(oldest + wait):
                await self._filled.wait()
        except TimeoutError:
            pass
        self.stats.window_seconds += clock() - began

    def _next_group(self) -> tuple[int, list[WaitingRow]]:
        clock = asyncio.get_running_loop().time
        began = clock()
        waiting = self._queue.oldest(PLANNED_ROWS)
        plan = self._planner.plan([row.length for row in waiting])
        length, members = next(group for group in plan if 0 in group[1])
        rows = [waiting[index] for index in members]
        self._queue.leave(rows)
        self.stats.planner_seconds += clock() - began
        return length, rows

    def _retry_after(self) -> int:
        """Seconds in which as many rows ran so far as wait now."""
        busy = self.stats.engine_seconds + self.stats.handover_seconds
        seconds = len(self._queue) * busy / max(1, self.stats.rows)
        return min(LONGEST_RETRY_SECONDS, max(1, math.ceil(seconds)))
