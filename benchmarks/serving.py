"""Runs of a batcher under load: on the real engine, or in virtual time on a table.

A `Served` says how long rows took, a `Run` adds what the batcher did for it and where its time
went. What the loads are is in `scenarios`, what the policies are in `policies`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.clients import Served, closed_loop, open_loop
from benchmarks.policies import MAX_BATCH
from benchmarks.scenarios import LOADS, poisson_arrivals
from benchmarks.virtual_time import VirtualRunner

SPENT = ("engine", "handover", "planner", "window", "idle")
"""Parts of the elapsed time that a batcher's statistics name; the rest is Python on the loop."""

COUNTED = ("forwards", "padded_tokens", "real_tokens")


@dataclass(frozen=True)
class Run:
    """One policy under one load.

    Attributes:
        served: seconds and latencies.
        processor_seconds: of this process meanwhile, engine and clients included. Where forwards
            run on the processor, other processes hardly touch it.
        forwards, padded_tokens, real_tokens: counts.
        spent: seconds by the names in `SPENT`.
    """

    served: Served
    processor_seconds: float
    forwards: int
    padded_tokens: int
    real_tokens: int
    spent: Mapping[str, float]


class Server:
    """An engine that batchers with different policies take turns at.

    Args:
        engine: answers groups.
        runner: calls it; of one batcher after the other.
    """

    def __init__(self, engine: Any, runner: Any) -> None:
        self._engine = engine
        self._runner = runner

    async def run(self, policy: Any, load: str, rows: Sequence[Any], rate: float = 0.0) -> Run:
        """Put the rows to a new batcher with this policy.

        Args:
            policy: has `plan` and `cost`.
            load: a name in `LOADS`.
            rows: what the engine answers, and the batcher asks for `tokens` of.
            rate: rows a second of an open loop.
        """
        from decider.serve.batcher import Batcher

        batcher = Batcher(self._engine, policy, max_batch=MAX_BATCH, runner=self._runner)
        async with batcher:
            before, began = _statistics(batcher.stats), time.process_time()
            if clients := LOADS[load].clients:
                served = await closed_loop(batcher.submit, rows, clients)
            else:
                arrivals = poisson_arrivals(rate, len(rows))
                served = await open_loop(batcher.submit, rows, arrivals)
            after, processor = _statistics(batcher.stats), time.process_time() - began
        since = {name: after[name] - before[name] for name in after}
        counts = {name: int(since[name]) for name in COUNTED}
        spent = {name: since[f"{name}_seconds"] for name in SPENT}
        return Run(served, processor, **counts, spent=spent)


class KeptRunner:
    """A runner that outlives the batchers that use it: the engine belongs to its one thread."""

    def __init__(self, runner: Any) -> None:
        self._runner = runner
        self.run = runner.run

    def start(self) -> None:
        """It runs already."""

    def stop(self) -> None:
        """The next batcher will use it."""


class TimedEngine:
    """Answers nothing, and says how long that took by a table.

    Args:
        grid: the shapes it has.
        milliseconds: by (batch, length).
    """

    def __init__(self, grid: Any, milliseconds: Mapping[tuple[int, int], float]) -> None:
        self.grid = grid
        self.seconds = 0.0
        self._milliseconds = milliseconds

    def forward(self, rows: Sequence[Any], length: int, batch: int | None = None) -> list[None]:
        """As many answers as rows; `seconds` is what the forward takes."""
        self.seconds = self._milliseconds[batch or len(rows), length] / 1_000
        return [None] * len(rows)


def virtual_server(grid: Any, milliseconds: Mapping[tuple[int, int], float]) -> Server:
    """A server in virtual time; what it runs must run under `run_virtually`."""
    engine = TimedEngine(grid, milliseconds)
    return Server(engine, VirtualRunner(lambda: engine.seconds))


def length_rows(lengths: Sequence[int]) -> list[Any]:
    """Rows for a server in virtual time: their lengths count, their tokens do not."""
    from decider.engine import Row, Slot

    return [Row(range(length), (Slot(0, 2),)) for length in lengths]


def token_rows(lengths: Sequence[int], vocabulary_size: int, seed: int) -> list[Any]:
    """Rows of random tokens for a real engine, with one slot at the last token."""
    from decider.engine import Row, Slot

    generator = random.Random(seed)
    return [
        Row(generator.choices(range(vocabulary_size), k=length), (Slot(length - 1, 4),))
        for length in lengths
    ]


def _statistics(stats: Any) -> dict[str, float]:
    names = (*COUNTED, *(f"{name}_seconds" for name in SPENT))
    return {name: getattr(stats, name) for name in names}
