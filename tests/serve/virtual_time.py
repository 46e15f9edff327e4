"""An event loop whose clock jumps to the next thing that is due instead of waiting for it.

It also tells a hang from a long wait: where nothing is due any more, it says so and stops.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class HangError(AssertionError):
    """Something waits for what can never come."""


class _Jumping(selectors.DefaultSelector):
    loop: VirtualTimeLoop

    def select(self, timeout: float | None = None) -> list[Any]:
        events = super().select(0)
        if not events:
            if timeout is None:
                raise HangError("nothing is due, and something still waits")
            self.loop.now += max(timeout, 0)
        return events


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Use no threads on it: it does not wait for them."""

    def __init__(self) -> None:
        self.now = 0.0
        selector = _Jumping()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now


def run_in_virtual_time(coroutine: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` without waiting."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(coroutine)
