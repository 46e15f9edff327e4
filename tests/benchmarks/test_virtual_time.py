"""Virtual time: it passes exactly, in order and at once, and a standstill is an error."""

from __future__ import annotations

import asyncio
import time

import pytest

from benchmarks.virtual_time import VirtualRunner, run_virtually


def test_days_pass_in_order_and_at_once():
    seen: list[tuple[float, int]] = []

    async def main() -> None:
        clock = asyncio.get_running_loop().time

        async def wait(seconds: float, number: int) -> None:
            await asyncio.sleep(seconds)
            seen.append((clock(), number))

        await asyncio.gather(wait(3e5, 1), wait(0.25, 2), wait(10, 3))

    began = time.monotonic()
    run_virtually(main())
    assert seen == [(0.25, 2), (10, 3), (3e5, 1)]
    assert time.monotonic() - began < 3e5


def test_a_call_on_the_runner_happens_at_once_and_takes_its_time():
    async def main() -> None:
        clock = asyncio.get_running_loop().time
        runner = VirtualRunner(lambda: 2.5)
        runner.start()
        began = await runner.run(lambda add: clock() + add, 1)
        runner.stop()
        assert (began, clock()) == (1, 2.5)

    run_virtually(main())


def test_a_standstill_is_an_error():
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="virtual time stands still"):
        run_virtually(main())
