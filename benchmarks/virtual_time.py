"""An event loop whose time passes only when nothing is left to do at the moment.

With it, and an engine whose forwards take what a table says, a batcher's hours run in seconds and
give the same numbers each time: no machine, no noise. Python and the planner take no time there.
Knows no rows and no plans; needs nothing of `decider`.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """An asyncio loop that jumps to its next timer instead of waiting for it.

    Everything must happen on the loop: a thread or a socket gets no time to answer. After some
    weeks floats are coarser than asyncio's clock, and its timers no longer fire.
    """

    def __init__(self) -> None:
        self._jumps = _JumpingSelector()
        super().__init__(self._jumps)

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._jumps.now


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("virtual time stands still: everything waits and no timer is set")
        if not ready and timeout is not None:
            self.now += max(0.0, timeout)
        return ready


class VirtualRunner:
    """Where a batcher calls its engine: at once, and then the time of the call passes.

    Args:
        seconds: how long the call just made takes, asked after it was made.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds

    def start(self) -> None:
        """There is nothing to start."""

    def stop(self) -> None:
        """There is nothing to stop."""

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call the function, and return what it does when its time has passed."""
        result = function(*arguments)
        await asyncio.sleep(self._seconds())
        return result


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
