"""Probes of the real engine: host-to-host forwards of random rows on captured shapes.

The engine is imported when a probe is opened, never before. What is timed when is `sampling`'s.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.allocator import keep_memory
from benchmarks.device import DeviceMonitor
from benchmarks.environment import environment, gpu_uuid, pin_threads
from benchmarks.profiles import Profile, Shape
from benchmarks.sampling import Clock

ROTATION = 3
"""Inputs that a cell takes in turn, so that no forward sees its own tokens again at once."""

OPTIONS = 4
"""Options of the one slot that each row reads out at its last token."""


class EngineMissingError(Exception):
    """The commit under test has no engine to measure."""


class ForwardProbe:
    """Times forwards of full groups: `batch` rows of exactly `length` random tokens.

    One run goes from rows in host memory to answers in host memory. The next begins when the last
    has ended, so no time of one hides behind another and none is spent waiting in a queue.

    Args:
        engine: captured and sealed; its thread is the caller's.
        row: builds one row from its tokens and the number of options of its one slot.
        shapes: the cells.
        seed: of the tokens; the same for every commit.
    """

    def __init__(
        self,
        engine: Any,
        row: Callable[[list[int], int], Any],
        shapes: Sequence[Shape],
        seed: int,
        clock: Clock = time.perf_counter,
    ) -> None:
        self._engine = engine
        self._row = row
        self._shapes = list(shapes)
        self._seed = seed
        self._clock = clock
        self._groups: dict[Shape, list[list[Any]]] = {}
        self._runs = 0

    def cells(self) -> Sequence[Shape]:
        """The shapes, as (batch, length)."""
        return self._shapes

    def sample(self, cell: Shape, repeats: int) -> float:
        """Mean seconds of one forward of `cell`, over `repeats` of them back to back."""
        batch, length = cell
        groups = self._groups_of(cell)
        forward, first = self._engine.forward, self._runs
        self._runs += repeats
        start = self._clock()
        for run in range(first, first + repeats):
            forward(groups[run % ROTATION], length, batch)
        return (self._clock() - start) / repeats

    def _groups_of(self, cell: Shape) -> list[list[Any]]:
        if cell not in self._groups:
            self._groups[cell] = [self._group(cell, turn) for turn in range(ROTATION)]
        return self._groups[cell]

    def _group(self, cell: Shape, turn: int) -> list[Any]:
        generator = np.random.default_rng((self._seed, *cell, turn))
        tokens = generator.integers(self._engine.vocabulary_size, size=cell).tolist()
        options = min(OPTIONS, self._engine.max_options)
        return [self._row(row, options) for row in tokens]


@dataclass(frozen=True)
class OpenProbe:
    """A probe with what it runs on."""

    probe: ForwardProbe
    monitor: DeviceMonitor
    environment: dict[str, Any]
    engine: dict[str, Any]
    """What the engine says of itself."""

    start_up_seconds: float
    """Import of the engine and opening of the model."""

    capture_seconds: float

    graph_bytes: Mapping[Shape, int]
    """Device memory of each captured graph; empty where there are no graphs."""


@contextmanager
def open_forward_probe(
    profile: Profile, seed: int, clock: Clock = time.perf_counter
) -> Iterator[OpenProbe]:
    """The engine of `profile`, captured and sealed, as a probe; closed at the end.

    Raises:
        EngineMissingError: the commit under test has no `decider.engine.open_engine`.
    """
    start = clock()
    pin_threads(profile.threads)
    allocator = keep_memory()  # before torch allocates
    open_engine, row = _engine_names()
    engine = open_engine(
        profile.model, grid=profile.grid(), device=profile.device, threads=profile.threads
    )
    start_up = clock() - start
    monitor = DeviceMonitor(gpu_uuid() if profile.device == "cuda" else None)
    try:
        captured = engine.capture()
        engine.seal()
        yield OpenProbe(
            probe=ForwardProbe(engine, row, profile.shapes, seed, clock),
            monitor=monitor,
            environment=environment(
                threads=profile.threads, allocator=allocator, seed=seed, driver=monitor.driver()
            ),
            engine=engine.describe(),
            start_up_seconds=start_up,
            capture_seconds=captured.seconds,
            graph_bytes=captured.bytes_per_shape,
        )
    finally:
        monitor.close()
        engine.close()


def _engine_names() -> tuple[Callable[..., Any], Callable[[list[int], int], Any]]:
    try:
        from decider.engine import Row, Slot, open_engine
    except ImportError as error:
        if not (error.name or "").startswith("decider"):
            raise
        raise EngineMissingError(f"this commit has no engine to measure: {error}") from None
    return open_engine, lambda tokens, options: Row(tokens, [Slot(len(tokens) - 1, options)])
