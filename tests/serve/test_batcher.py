"""The batcher in virtual time: each test says what waits, what runs next, and who is told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.batching import Planner
from decider.ledger import Group
from decider.serve.errors import Overloaded
from tests.serve.fakes import (
    COST,
    GRID,
    FakeEngine,
    FixedPlanning,
    GatedRunner,
    SlowRunner,
    batcher,
    check_answers,
    row,
)
from tests.serve.virtual_time import run_in_virtual_time


def ran(engine: FakeEngine) -> list[list[int]]:
    return [checks for checks, _, _ in engine.ran]


def test_each_request_gets_its_own_answers_in_its_own_order() -> None:
    async def check() -> None:
        async with batcher() as server:
            requests = [[row(10 * k + i, 1 + (k + i) % 16) for i in range(k)] for k in range(1, 8)]
            await asyncio.gather(*(check_answers(server, rows) for rows in requests))
            assert server.stats.answered_requests == server.stats.requests == 7
            assert server.stats.rows == sum(map(len, requests))
            assert await server.submit([]) == []

    run_in_virtual_time(check())


def test_one_group_runs_and_what_arrived_meanwhile_is_planned_with_the_rest() -> None:
    async def check() -> None:
        engine = FakeEngine()
        async with batcher(engine) as server:
            waiting = [asyncio.create_task(check_answers(server, [row(k, 16)])) for k in (1, 2, 3)]
            await asyncio.sleep(0.001)  # the first forward, of two rows, is under way
            waiting.append(asyncio.create_task(check_answers(server, [row(4, 16)])))
            await asyncio.gather(*waiting)
        assert ran(engine) == [[1, 2], [3, 4]]  # 16 tokens: two rows fill the budget of 32

    run_in_virtual_time(check())


class ByCheck(FixedPlanning):
    """Groups rows as the given numbers say, in no particular order of the groups."""

    def __init__(self, drawn: Sequence[int]) -> None:
        super().__init__(self._plan)
        self._drawn = list(drawn) or [0]
        self._calls = 0

    def _plan(self, lengths: Sequence[int]) -> list[Group]:
        groups: dict[int, list[int]] = {}
        for index in range(len(lengths)):
            self._calls += 1
            groups.setdefault(self._drawn[self._calls % len(self._drawn)], []).append(index)
        plan = [(8, rows[k : k + 4]) for rows in groups.values() for k in range(0, len(rows), 4)]
        return plan[::-1]


@given(
    arrivals=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30)), max_size=30),
    drawn=st.lists(st.integers(0, 5), max_size=20),
)
def test_a_row_that_finds_k_rows_waiting_runs_within_k_more_forwards_whatever_the_plan(
    arrivals: list[tuple[int, int]], drawn: list[int]
) -> None:
    async def check() -> None:
        engine = FakeEngine()
        waiting_on_arrival: dict[int, int] = {}
        forwards_before: dict[int, int] = {}
        async with batcher(engine, planner=ByCheck(drawn), adaptive_wait_ms=0) as server:
            tasks = []
            for number, (rows, pause) in enumerate(arrivals):
                await asyncio.sleep(pause / 1000)
                checks = [1 + 5 * number + place for place in range(rows)]
                tasks.append(asyncio.create_task(check_answers(server, [row(c) for c in checks])))
                before = server.queued_rows
                await asyncio.sleep(0)
                for place, check in enumerate(checks):
                    waiting_on_arrival[check] = before + place
                    forwards_before[check] = server.stats.collections
            await asyncio.gather(*tasks)
        order = ran(engine)
        for check, waiting in waiting_on_arrival.items():
            turn = next(place for place, checks in enumerate(order) if check in checks)
            # `turn` counts forwards before its own; those begun before its arrival are no matter.
            assert turn - forwards_before[check] <= waiting

    run_in_virtual_time(check())


def test_the_oldest_row_is_never_overtaken() -> None:
    async def check() -> None:
        engine = FakeEngine()
        async with batcher(engine, planner=ByCheck([0, 1, 2])) as server:
            waiting = []
            for check in range(1, 30):
                waiting.append(asyncio.create_task(check_answers(server, [row(check)])))
                await asyncio.sleep(0.003)
            await asyncio.gather(*waiting)
        left = list(range(1, 30))
        for checks in ran(engine):
            assert left[0] in checks
            left = [check for check in left if check not in checks]

    run_in_virtual_time(check())


def test_a_huge_queue_is_planned_in_parts_and_still_answered() -> None:
    planned: list[int] = []

    class Watched(Planner):
        def plan(self, lengths: Any) -> list[Group]:
            planned.append(len(lengths))
            return super().plan(lengths)

    async def check() -> None:
        async with batcher(planner=Watched(GRID, COST, 4)) as server:
            await check_answers(server, [row(1 + k % 900, 1 + k % 16) for k in range(3_000)])

    run_in_virtual_time(check())
    assert max(planned) == 1_024
    assert sum(1 for rows in planned if rows == 1_024) > 100


# Going away.


def test_a_cancelled_request_leaves_the_queue_and_takes_nobody_with_it() -> None:
    async def check() -> None:
        engine = FakeEngine()
        async with batcher(engine) as server:
            running = asyncio.create_task(check_answers(server, [row(1, 16)]))
            await asyncio.sleep(0.001)
            leaving = asyncio.create_task(server.submit([row(2, 16), row(3, 16)]))
            staying = asyncio.create_task(check_answers(server, [row(4, 16)]))
            await asyncio.sleep(0.001)
            leaving.cancel()
            await asyncio.gather(running, staying)
        assert ran(engine) == [[1], [4]]
        assert server.stats.cancelled_requests == 1
        assert server.stats.cancelled_rows == 2

    run_in_virtual_time(check())


def test_a_request_cancelled_while_it_runs_harms_nobody() -> None:
    async def check() -> None:
        async with batcher() as server:
            leaving = asyncio.create_task(server.submit([row(1)]))
            staying = asyncio.create_task(check_answers(server, [row(2)]))
            await asyncio.sleep(0.001)
            leaving.cancel()
            await staying
            assert (server.stats.cancelled_requests, server.stats.cancelled_rows) == (1, 0)

    run_in_virtual_time(check())


def test_a_request_cancelled_as_it_is_answered_is_counted_once() -> None:
    class Late(SlowRunner):
        leaving: asyncio.Task[Any] | None = None

        async def run(self, function: Any, *arguments: Any) -> Any:
            result = await super().run(function, *arguments)
            if self.leaving is not None:
                asyncio.get_running_loop().call_soon(self.leaving.cancel)
            return result

    async def check() -> None:
        runner = Late()
        async with batcher(runner=runner) as server:
            runner.leaving = asyncio.create_task(server.submit([row(1)]))
            await asyncio.wait([runner.leaving])
            assert runner.leaving.cancelled()
            stats = server.stats
            assert (stats.answered_requests, stats.cancelled_requests) == (1, 0)

    run_in_virtual_time(check())


def test_ten_thousand_cancelled_requests_leave_nothing_behind() -> None:
    async def check() -> None:
        engine = FakeEngine()
        runner = GatedRunner()
        async with batcher(engine, runner=runner, max_queue_rows=20_000) as server:
            runner.gate.clear()
            running = asyncio.create_task(check_answers(server, [row(1)]))
            await asyncio.sleep(0.001)
            leaving = [asyncio.create_task(server.submit([row(2)])) for _ in range(10_000)]
            await asyncio.sleep(0.001)
            assert server.queued_rows == 10_000
            for task in leaving:
                task.cancel()
            await asyncio.wait(leaving)
            assert server.queued_rows == 0
            runner.gate.set()
            await running
            assert ran(engine) == [[1]]
            assert len(asyncio.all_tasks()) == 2  # this one and the batcher's
        assert server.stats.cancelled_requests == server.stats.cancelled_rows == 10_000

    run_in_virtual_time(check())


# Overload.


def test_a_full_queue_refuses_and_names_its_limit() -> None:
    async def check() -> None:
        runner = GatedRunner()
        async with batcher(runner=runner, max_queue_rows=3) as server:
            runner.gate.clear()
            running = asyncio.create_task(check_answers(server, [row(1)]))
            await asyncio.sleep(0.001)
            waiting = asyncio.create_task(check_answers(server, [row(2), row(3)]))
            await asyncio.sleep(0.001)
            with pytest.raises(Overloaded, match="at most 3 rows wait"):
                await server.submit([row(4), row(5)])
            fitting = asyncio.create_task(check_answers(server, [row(6)]))
            await asyncio.sleep(0.001)
            runner.gate.set()
            await asyncio.gather(running, waiting, fitting)
            assert server.stats.rejections == {"overloaded": 1}
            await check_answers(server, [row(7)])  # there is room again

    run_in_virtual_time(check())


@pytest.mark.parametrize(("seconds", "retry_after"), [(0.001, 1), (1, 5), (100, 60)])
def test_retry_after_is_what_the_queue_takes_at_the_pace_so_far(
    seconds: float, retry_after: int
) -> None:
    async def check() -> None:
        runner = SlowRunner(seconds)
        async with batcher(runner=runner, max_queue_rows=5, forward_timeout_s=1_000) as server:
            await check_answers(server, [row(1)])
            waiting = asyncio.create_task(check_answers(server, [row(k) for k in range(2, 7)]))
            await asyncio.sleep(0)
            with pytest.raises(Overloaded) as caught:
                await server.submit([row(8)])
            assert caught.value.retry_after == retry_after
            await waiting

    run_in_virtual_time(check())
