"""The shapes groups run at, and engines that fail or die, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.batching import Planner
from decider.costs import LadderCost, LinearCost
from decider.engine import Row, Slot
from decider.serve.batcher import Batcher
from decider.serve.errors import EngineDied, RowsFailedError
from tests.serve.fakes import (
    GRID,
    NOT_A_NUMBER,
    POISON,
    FakeEngine,
    FixedPlanning,
    GatedRunner,
    answer,
    batcher,
    check_answers,
    plain,
    row,
)
from tests.serve.virtual_time import run_in_virtual_time


def test_groups_run_at_the_shape_that_was_priced() -> None:
    async def check() -> None:
        engine = FakeEngine()
        async with batcher(engine, planner=Planner(GRID, LadderCost(9, GRID), 4)) as server:
            await check_answers(server, [row(k, 3) for k in (1, 2, 3)])
            await check_answers(server, [row(4, 23)])  # above the last bucket: as it is
            await check_answers(server, [row(5, 6)])
        assert engine.ran == [([1, 2, 3], 4, 4), ([4], 30, None), ([5], 8, 1)]
        assert server.stats.batch_buckets == {4: 1, 1: 2}
        assert server.stats.length_buckets == {4: 1, 30: 1, 8: 1}
        assert server.stats.padded_tokens == 16 + 30 + 8
        assert server.stats.real_tokens == 9 + 23 + 6
        assert server.stats.empty_rows == 4
        assert server.stats.length_rounding == 3 + 7 + 2

    run_in_virtual_time(check())


def test_a_cost_that_names_no_captured_shape_runs_at_the_smallest_that_holds_it() -> None:
    async def check() -> None:
        engine = FakeEngine()
        cost = LinearCost(3)
        async with batcher(engine, planner=Planner(GRID, cost, 4)) as server:
            await check_answers(server, [row(k, 8) for k in (1, 2, 3)])
        assert engine.ran == [([1, 2, 3], 8, 4)]
        # What ran is accounted for, and the parts still sum to the planner's cost.
        stats = server.stats
        assert (stats.padded_tokens, stats.empty_rows) == (32, 8)
        assert stats.padded_tokens + stats.overhead == cost.cost(3, 8)

    run_in_virtual_time(check())


def test_a_row_whose_answer_is_no_number_fails_alone_and_runs_once() -> None:
    async def check() -> None:
        engine = FakeEngine()
        async with batcher(engine) as server:
            bad = Row([NOT_A_NUMBER, 0], [Slot(0, 2), Slot(1, 3)])
            with pytest.raises(RowsFailedError, match="row 1: ArithmeticError: slot 1: the model"):
                await server.submit([row(4, 2), bad, row(5, 2)])
            assert server.healthy
            assert (server.stats.failed_rows, server.stats.failed_forwards) == (1, 0)
            await check_answers(server, [row(6)])
        ran = [check for checks, _, _ in engine.ran for check in checks]
        assert ran == [4, NOT_A_NUMBER, 5, 6]  # once each

    run_in_virtual_time(check())


@pytest.mark.parametrize("given", [None, "a label", 3.5, [[0.5, 0.5]]])
def test_answers_of_other_kinds_are_given_out_as_they_are(given: Any) -> None:
    class Other(FakeEngine):
        def forward(self, rows: Sequence[Row], *_: Any) -> list[Any]:
            return [given] * len(rows)

    async def check() -> None:
        async with batcher(Other()) as server:
            assert await server.submit([row(1)]) == [given]

    run_in_virtual_time(check())


def test_a_row_that_fails_fails_alone() -> None:
    async def check() -> None:
        async with batcher() as server:
            good = [asyncio.create_task(check_answers(server, [row(k)])) for k in (1, 2, 3)]
            bad = asyncio.create_task(server.submit([row(4), row(POISON), row(5)]))
            await asyncio.gather(*good)
            with pytest.raises(RowsFailedError, match="row 1: RuntimeError: poison") as caught:
                await bad
            first, failed, last = caught.value.answers
            assert failed is None
            assert plain([first, last]) == [answer(row(4)), answer(row(5))]
            assert server.healthy
            assert server.stats.failed_rows == 1
            await check_answers(server, [row(6)])

    run_in_virtual_time(check())


@given(st.lists(st.lists(st.sampled_from([1, 2, 3, POISON]), max_size=6), max_size=6))
def test_any_number_of_failing_rows_fail_and_no_other(requests: list[list[int]]) -> None:
    async def ask(server: Batcher, checks: list[int]) -> None:
        rows = [row(check) for check in checks]
        try:
            answers = await server.submit(rows)
        except RowsFailedError as error:
            answers = error.answers
        expected = [None if c == POISON else answer(r) for c, r in zip(checks, rows, strict=True)]
        assert [None if a is None else plain([a])[0] for a in answers] == expected

    async def check() -> None:
        async with batcher() as server:
            await asyncio.gather(*(ask(server, checks) for checks in requests))
            assert server.healthy

    run_in_virtual_time(check())


def test_a_row_given_up_while_its_group_failed_is_not_run_again() -> None:
    async def check() -> None:
        engine = FakeEngine()
        async with batcher(engine) as server:
            leaving = asyncio.create_task(server.submit([row(1)]))
            staying = asyncio.create_task(server.submit([row(POISON), row(2)]))
            await asyncio.sleep(0.005)  # the group of three is under way
            leaving.cancel()
            with pytest.raises(RowsFailedError):
                await staying
        assert [checks for checks, _, _ in engine.ran] == [[2]]

    run_in_virtual_time(check())


def test_a_dying_engine_fails_every_waiting_row_with_the_reason() -> None:
    async def check() -> None:
        engine = FakeEngine()
        server = batcher(engine)
        await server.start()
        requests = [asyncio.create_task(server.submit([row(k, 16)])) for k in range(1, 10)]
        await asyncio.sleep(0.001)
        engine.dead = RuntimeError("the device fell off the bus")
        results = await asyncio.gather(*requests, return_exceptions=True)
        assert {type(result) for result in results} == {EngineDied}
        assert all("the device fell off the bus" in str(result) for result in results)
        assert not server.healthy
        assert "fell off the bus" in str(server.reason)
        with pytest.raises(EngineDied, match="fell off the bus"):
            await server.submit([row(1)])
        assert server.queued_rows == 0
        await server.close()

    run_in_virtual_time(check())


def test_a_forward_that_never_ends_kills_the_engine_and_nobody_hangs() -> None:
    async def check() -> None:
        runner = GatedRunner()
        server = batcher(runner=runner, forward_timeout_s=7)
        await server.start()
        runner.gate.clear()
        requests = [asyncio.create_task(server.submit([row(k)])) for k in range(1, 9)]
        results = await asyncio.gather(*requests, return_exceptions=True)
        assert {type(result) for result in results} == {EngineDied}
        assert "within 7 s (DECIDER_FORWARD_TIMEOUT_S)" in str(results[0])
        assert not server.healthy
        assert asyncio.get_running_loop().time() < 8
        await server.close()

    run_in_virtual_time(check())


@pytest.mark.parametrize("plan", [lambda _: 1 / 0, lambda _: [], lambda _: [(1, [0])]])
def test_a_planner_that_fails_is_found_out_and_nobody_hangs(plan: Any) -> None:
    async def check() -> None:
        server = batcher(planner=FixedPlanning(plan))
        await server.start()
        with pytest.raises((EngineDied, RowsFailedError)):
            await server.submit([row(1, 5)])
        await server.close()

    run_in_virtual_time(check())


def test_an_engine_that_loses_answers_is_dead() -> None:
    class Losing(FakeEngine):
        def forward(self, rows: Sequence[Row], length: int, batch: int | None = None) -> list[Any]:
            answers = super().forward(rows, length, batch)
            return answers if len(rows) == 1 else answers[1:]

    async def check() -> None:
        server = batcher(Losing())
        await server.start()
        with pytest.raises(EngineDied, match="gave 1 answers to 2 rows"):
            await server.submit([row(1), row(2)])
        await server.close()

    run_in_virtual_time(check())


def test_a_row_without_tokens_is_refused_before_it_can_spoil_a_plan() -> None:
    async def check() -> None:
        async with batcher() as server:
            with pytest.raises(ValueError, match="row 1: no tokens"):
                await server.submit([row(1), Row([], [])])

    run_in_virtual_time(check())
