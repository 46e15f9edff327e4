from __future__ import annotations

import asyncio
import threading

import pytest

from decider.serve.device_thread import DeviceThread
from decider.serve.errors import EngineDied


def raising(error: BaseException) -> None:
    raise error


def test_calls_run_one_after_the_other_in_one_other_thread() -> None:
    async def check() -> None:
        thread = DeviceThread()
        thread.start()
        calls = [thread.run(threading.get_ident) for _ in range(2)]
        first, second = await asyncio.gather(*calls)
        assert first == second != threading.get_ident()
        assert await thread.run(divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):
            await thread.run(divmod, 7, 0)
        thread.stop()

    asyncio.run(check())


@pytest.mark.parametrize(
    ("raised", "arrives"),
    [
        (SystemExit(3), EngineDied),
        (KeyboardInterrupt(), EngineDied),
        (StopIteration(), RuntimeError),
        (MemoryError("full"), MemoryError),
    ],
)
def test_nothing_that_is_raised_there_is_lost_or_ends_the_loop(
    raised: BaseException, arrives: type[Exception]
) -> None:
    async def check() -> None:
        thread = DeviceThread()
        thread.start()
        with pytest.raises(arrives):
            await thread.run(raising, raised)
        assert await thread.run(int, "1") == 1
        thread.stop()

    asyncio.run(check())


def test_a_call_whose_caller_left_before_it_began_is_not_made() -> None:
    async def check() -> None:
        thread = DeviceThread()
        hold, called = threading.Event(), threading.Event()
        thread.start()
        running = asyncio.create_task(thread.run(hold.wait))
        waiting = asyncio.create_task(thread.run(called.set))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
        hold.set()
        await running
        await thread.run(int)
        thread.stop()
        assert not called.is_set()

    asyncio.run(check())
