"""The one thread that owns the device, as seen from an event loop. It knows no engine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from decider.serve.errors import EngineDied

T = TypeVar("T")


class Runner(Protocol):
    """Where the engine is called: one call at a time, in the order given."""

    def start(self) -> None:
        """Make it ready; called once, before `run`."""

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call the function there and return or raise what it does."""
        ...

    def stop(self) -> None:
        """Take no more calls. A call that is running is neither interrupted nor waited for."""


class DeviceThread:
    """A `Runner` with a thread of its own.

    The thread is a daemon: a forward that never returns must not keep the process alive. What is no
    `Exception`, such as `SystemExit`, ends no thread and no event loop: it arrives as `EngineDied`.
    """

    def __init__(self, name: str = "decider-engine") -> None:
        self._calls: SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]] | None]
        self._calls = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        future: Future[T] = Future()
        self._calls.put((future, function, arguments))
        return await asyncio.wrap_future(future)

    def stop(self) -> None:
        self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            _answer(*call)
            del call  # or the thread holds the last group until the next one comes


def _answer(future: Future[Any], function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function(*arguments)
    except StopIteration as error:  # asyncio refuses to carry it, and the caller would wait forever
        future.set_exception(RuntimeError(f"StopIteration: {error}"))
    except Exception as error:
        future.set_exception(error)
    except BaseException as error:
        future.set_exception(EngineDied(f"{type(error).__name__}: {error}"))
    else:
        future.set_result(result)
