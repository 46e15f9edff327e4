"""Clients of a batcher: the same rows in closed and open loops, and what came of them.

Of the suite, not of `decider`, so that every commit is measured by the same clients. Times are of
the running event loop, real or virtual. A row that is not answered ends the run with its error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

Submit = Callable[[Sequence[Any]], Awaitable[Sequence[Any]]]


@dataclass(frozen=True)
class Served:
    """One run.

    Attributes:
        seconds: from the first submission to the last answer.
        latencies: seconds from the scheduled arrival to the answer, in order of the rows.
    """

    seconds: float
    latencies: list[float]

    @property
    def seconds_per_1000_rows(self) -> float:
        """Lower is better."""
        return 1_000 * self.seconds / len(self.latencies)


async def closed_loop(submit: Submit, rows: Sequence[Any], clients: int) -> Served:
    """`clients` clients send the rows in turn, each its next when it has its answer."""
    clock = asyncio.get_running_loop().time
    latencies = [0.0] * len(rows)
    left = iter(enumerate(rows))

    async def client() -> None:
        for index, row in left:
            began = clock()
            await _answered(submit, row)
            latencies[index] = clock() - began

    start = clock()
    async with asyncio.TaskGroup() as group:
        for _ in range(min(clients, len(rows))):
            group.create_task(client())
    return Served(clock() - start, latencies)


async def open_loop(submit: Submit, rows: Sequence[Any], arrivals: Sequence[float]) -> Served:
    """Each row is sent at its arrival, in seconds from now, whatever has become of the others."""
    clock = asyncio.get_running_loop().time
    latencies = [0.0] * len(rows)
    start = clock()

    async def send(index: int) -> None:
        await _answered(submit, rows[index])
        latencies[index] = clock() - start - arrivals[index]

    async with asyncio.TaskGroup() as group:
        for index, arrival in enumerate(arrivals):
            await asyncio.sleep(max(0.0, start + arrival - clock()))
            group.create_task(send(index))
    return Served(clock() - start, latencies)


async def _answered(submit: Submit, row: Any) -> None:
    answers = await submit([row])
    assert len(answers) == 1, f"{len(answers)} answers to one row"
