"""Starting, closing and what is counted meanwhile, in virtual time."""

from __future__ import annotations

import asyncio

import pytest

from decider.serve.device_thread import DeviceThread
from decider.serve.errors import EngineDied, UnavailableError
from tests.serve.fakes import (
    FakeEngine,
    SlowRunner,
    batcher,
    check_answers,
    row,
)
from tests.serve.virtual_time import run_in_virtual_time


def test_before_it_is_started_and_after_it_is_closed_it_refuses() -> None:
    async def check() -> None:
        server = batcher()
        assert (server.healthy, server.reason) == (False, "the engine is starting")
        with pytest.raises(UnavailableError, match="starting"):
            await server.submit([row(1)])
        await server.start()
        assert (server.healthy, server.reason) == (True, None)
        await server.close()
        await server.close()
        with pytest.raises(UnavailableError, match="shutting down"):
            await server.submit([row(1)])
        assert server.stats.rejections == {"unavailable": 2}

    run_in_virtual_time(check())


def test_closing_answers_all_that_was_admitted() -> None:
    async def check() -> None:
        runner = SlowRunner()
        server = batcher(runner=runner, wait_ms=500)
        await server.start()
        requests = [asyncio.create_task(check_answers(server, [row(k, 16)])) for k in range(1, 20)]
        await asyncio.sleep(0.001)
        await server.close()
        await asyncio.gather(*requests)
        assert runner.stopped
        assert server.stats.answered_requests == 19

    run_in_virtual_time(check())


def test_closing_can_be_given_up_and_then_fails_what_waits() -> None:
    async def check() -> None:
        server = batcher(runner=SlowRunner(100))
        await server.start()
        request = asyncio.create_task(server.submit([row(1)]))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(server.close(), 5)
        with pytest.raises(UnavailableError, match="stopped before it could answer"):
            await request

    run_in_virtual_time(check())


def test_preparing_happens_where_the_engine_is_called_and_its_failure_is_the_start_s() -> None:
    async def check() -> None:
        engine = FakeEngine()
        server = batcher(engine, runner=DeviceThread())
        prepared: list[set[int]] = []
        await server.start(lambda: prepared.append(set()))
        await asyncio.gather(*(check_answers(server, [row(k, k)]) for k in range(1, 17)))
        await server.close()
        assert len(engine.threads) == 1

        failing = batcher(runner=DeviceThread())
        with pytest.raises(ZeroDivisionError):
            await failing.start(lambda: 1 / 0)
        assert "did not start: division by zero" in str(failing.reason)
        await failing.close()

    asyncio.run(check())


def test_an_engine_that_cannot_answer_one_token_does_not_start() -> None:
    async def check() -> None:
        engine = FakeEngine()
        engine.dead = RuntimeError("no device")
        server = batcher(engine)
        with pytest.raises(EngineDied, match="one token: RuntimeError: no device"):
            await server.start()
        assert not server.healthy

    run_in_virtual_time(check())


def test_statistics_say_where_the_time_went() -> None:
    async def check() -> None:
        async with batcher(runner=SlowRunner(0.25)) as server:
            await asyncio.sleep(2)
            await asyncio.gather(*(check_answers(server, [row(k)]) for k in (1, 2)))
            stats = server.stats
            assert stats.idle_seconds == pytest.approx(2)
            assert stats.handover_seconds + stats.engine_seconds == pytest.approx(0.25)
            assert (stats.collections, stats.forwards) == (1, 1)
            assert stats.latency.total == pytest.approx(0.5)
            assert stats.peak_queued_rows == 2

    run_in_virtual_time(check())
