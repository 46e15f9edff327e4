"""How long rows wait for company, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.serve.fakes import (
    SlowRunner,
    batcher,
    check_answers,
    row,
)
from tests.serve.virtual_time import run_in_virtual_time


def windowed(pauses: Sequence[float], **options: Any) -> list[tuple[float, int]]:
    """When each row was answered: rows are numbered from 1, each submitted after its pause, in ms.

    Forwards take no time, so that all there is to see is waiting for company.
    """

    async def check() -> list[tuple[float, int]]:
        loop = asyncio.get_running_loop()
        ended: list[tuple[float, int]] = []

        async def one(check: int) -> None:
            await check_answers(server, [row(check)])
            ended.append((round(loop.time() * 1000, 6), check))

        tasks = []
        async with batcher(runner=SlowRunner(0), **options) as server:
            for check, pause in enumerate(pauses, start=1):
                if pause:
                    await asyncio.sleep(pause / 1000)
                tasks.append(asyncio.create_task(one(check)))
            await asyncio.gather(*tasks)
        return ended

    return run_in_virtual_time(check())


def test_without_company_a_row_does_not_wait() -> None:
    assert windowed([0, 10, 10]) == [(0, 1), (10, 2), (20, 3)]


def test_a_fixed_window_is_waited_for_from_the_row_s_arrival() -> None:
    assert windowed([0, 1, 5], wait_ms=3) == [(3, 1), (3, 2), (9, 3)]


def test_the_adaptive_window_opens_after_a_collection_of_several_requests() -> None:
    assert windowed([0, 0, 10, 1]) == [(0, 1), (0, 2), (12, 3), (12, 4)]


def test_the_adaptive_window_closes_after_fifty_milliseconds_of_quiet() -> None:
    assert windowed([0, 0, 49]) == [(0, 1), (0, 2), (51, 3)]
    assert windowed([0, 0, 51]) == [(0, 1), (0, 2), (51, 3)]
    assert windowed([0, 0, 49, 49, 54]) == [(0, 1), (0, 2), (51, 3), (100, 4), (152, 5)]


def test_one_request_of_many_rows_opens_no_window() -> None:
    async def check() -> None:
        async with batcher(runner=SlowRunner(0)) as server:
            await check_answers(server, [row(1), row(2)])
            before = asyncio.get_running_loop().time()
            await check_answers(server, [row(3)])
            assert asyncio.get_running_loop().time() == before

    run_in_virtual_time(check())


def test_rows_that_fill_a_forward_are_not_kept_waiting() -> None:
    assert windowed([0, 0, 0, 0], wait_ms=50) == [(0, 1), (0, 2), (0, 3), (0, 4)]
    assert windowed([0, 0, 0, 0, 100], wait_ms=50)[-1] == (150, 5)  # nor are later ones hurried
    assert windowed([0, 0, 7, 0], wait_ms=50) == [(7, 1), (7, 2), (7, 3), (7, 4)]


def test_a_row_that_waited_for_a_forward_waits_for_no_window() -> None:
    async def check() -> None:
        async with batcher(runner=SlowRunner(0.01), wait_ms=5) as server:
            first = asyncio.create_task(check_answers(server, [row(1)]))
            await asyncio.sleep(0.006)  # the first row's window is over, and its forward runs
            second = asyncio.create_task(check_answers(server, [row(2)]))
            await asyncio.gather(first, second)
            started = 0.01  # the probe
            assert asyncio.get_running_loop().time() == pytest.approx(started + 0.005 + 0.01 + 0.01)
            assert server.stats.window_seconds == pytest.approx(0.005)

    run_in_virtual_time(check())


def test_closing_ends_a_window() -> None:
    async def check() -> None:
        server = batcher(runner=SlowRunner(0), wait_ms=5_000)
        await server.start()
        request = asyncio.create_task(check_answers(server, [row(1)]))
        await asyncio.sleep(1)
        await server.close()
        await request
        assert asyncio.get_running_loop().time() == pytest.approx(1)

    run_in_virtual_time(check())


def test_while_closing_no_window_is_waited_for() -> None:
    async def check() -> None:
        server = batcher(runner=SlowRunner(0.01), wait_ms=5_000)
        await server.start()
        requests = [asyncio.create_task(check_answers(server, [row(k)])) for k in range(1, 6)]
        await asyncio.sleep(0.001)  # four fill the forward that runs; the fifth waits
        await server.close()
        await asyncio.gather(*requests)
        assert asyncio.get_running_loop().time() == pytest.approx(0.03)

    run_in_virtual_time(check())
