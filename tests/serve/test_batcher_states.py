"""Any order of asking, leaving, failing and dying: every request ends once, with its answers."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from decider.batching import Planner
from decider.engine import Row
from decider.serve.errors import EngineDied, Overloaded, RowsFailedError, UnavailableError
from tests.serve.fakes import (
    COST,
    GRID,
    POISON,
    FakeEngine,
    SlowRunner,
    answer,
    batcher,
    plain,
    row,
)
from tests.serve.virtual_time import VirtualTimeLoop

MAX_QUEUE_ROWS = 12


class BatcherStates(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner(loop_factory=VirtualTimeLoop)
        self.engine = FakeEngine()
        self.requests: list[tuple[list[Row], asyncio.Task[Any]]] = []
        self.cancelled: set[int] = set()
        self.submitted = 0
        self.server = self.run(self.started())

    def run(self, coroutine: Any) -> Any:
        return self.runner.run(coroutine)

    async def started(self) -> Any:
        server = batcher(
            self.engine,
            planner=Planner(GRID, COST, 4),
            runner=SlowRunner(0.01),
            wait_ms=1,
            adaptive_wait_ms=3,
            max_queue_rows=MAX_QUEUE_ROWS,
        )
        await server.start()
        return server

    @rule(rows=st.lists(st.tuples(st.integers(1, 25), st.integers(0, 9)), min_size=1, max_size=6))
    def ask(self, rows: list[tuple[int, int]]) -> None:
        asked = []
        for length, luck in rows:
            self.submitted += 1
            check = POISON if luck == 0 else 1 + self.submitted % (POISON - 1)
            asked.append(row(check, length))

        async def begin() -> None:
            task = asyncio.create_task(self.server.submit(asked))
            self.requests.append((asked, task))
            await asyncio.sleep(0)

        self.run(begin())

    @rule(which=st.integers(0, 100))
    @precondition(lambda self: self.requests)
    def leave(self, which: int) -> None:
        async def go() -> None:
            index = which % len(self.requests)
            task = self.requests[index][1]
            if task.cancel():
                self.cancelled.add(index)
                await asyncio.wait([task])

        self.run(go())

    @rule(milliseconds=st.integers(1, 80))
    def wait(self, milliseconds: int) -> None:
        self.run(asyncio.sleep(milliseconds / 1000))

    @rule(luck=st.integers(0, 9))
    def die(self, luck: int) -> None:
        if luck == 0:
            self.engine.dead = RuntimeError("dead")

    @invariant()
    def the_queue_keeps_its_limit(self) -> None:
        assert 0 <= self.server.queued_rows <= MAX_QUEUE_ROWS

    def teardown(self) -> None:
        self.run(self.server.close())  # in virtual time: a hang is an error, not a wait
        for index, (rows, task) in enumerate(self.requests):
            assert task.done()
            self.check_end(index, rows, task)
        self.check_counts()
        self.runner.close()

    def check_end(self, index: int, rows: list[Row], task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            assert index in self.cancelled
            return
        poisoned = [place for place, asked in enumerate(rows) if asked.tokens[0] == POISON]
        error = task.exception()
        if error is None:
            assert not poisoned
            assert plain(task.result()) == [answer(asked) for asked in rows]
        elif isinstance(error, RowsFailedError):
            assert sorted(error.failures) == poisoned
            for asked, given in zip(rows, error.answers, strict=True):
                assert given is None or plain([given]) == [answer(asked)]
        elif isinstance(error, EngineDied):
            assert self.engine.dead is not None
        else:
            assert isinstance(error, (Overloaded, UnavailableError))

    def check_counts(self) -> None:
        stats = self.server.stats
        ended = stats.answered_requests + stats.failed_requests + stats.cancelled_requests
        assert ended == stats.requests
        assert stats.requests + sum(stats.rejections.values()) == len(self.requests)
        assert self.server.queued_rows == 0


TestBatcherStates = BatcherStates.TestCase
TestBatcherStates.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
