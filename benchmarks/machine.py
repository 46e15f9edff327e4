"""The machine at hand as a server: its engine, opened and captured, and what its forwards take."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.allocator import keep_memory
from benchmarks.device import DeviceMonitor
from benchmarks.environment import environment, gpu_uuid, pin_threads
from benchmarks.probes import EngineMissingError, ForwardProbe
from benchmarks.profiles import Profile, Shape
from benchmarks.sampling import Probe
from benchmarks.serving import KeptRunner, Server

ENOUGH_SECONDS = 0.25
MOST_VISITS = 5


@dataclass(frozen=True)
class Machine:
    """A server on this machine's engine.

    Attributes:
        milliseconds: what a forward took, by (batch, length) of every captured shape.
        environment: what a result measured here must carry.
    """

    server: Server
    grid: Any
    vocabulary_size: int
    milliseconds: Mapping[Shape, float]
    environment: Mapping[str, Any]


@asynccontextmanager
async def open_machine(
    profile: Profile,
    seed: int,
    *,
    visits: int = MOST_VISITS,
    enough_seconds: float = ENOUGH_SECONDS,
) -> AsyncIterator[Machine]:
    """The engine of `profile`, captured, sealed and measured; closed at the end.

    Raises:
        EngineMissingError: the commit under test has no engine or no batcher.
    """
    pin_threads(profile.threads)
    allocator = keep_memory()  # before torch allocates
    open_engine, row, thread = _names()
    engine = open_engine(
        profile.model, grid=profile.grid(), device=profile.device, threads=profile.threads
    )
    monitor = DeviceMonitor(gpu_uuid() if profile.device == "cuda" else None)
    thread.start()
    try:
        await thread.run(engine.capture)
        engine.seal()
        probe = ForwardProbe(engine, row, profile.shapes, seed)
        times = await thread.run(cell_times, probe, visits, enough_seconds, seed)
        yield Machine(
            server=Server(engine, KeptRunner(thread)),
            grid=profile.grid(),
            vocabulary_size=engine.vocabulary_size,
            milliseconds={cell: 1_000 * seconds for cell, seconds in times.items()},
            environment=environment(
                threads=profile.threads, allocator=allocator, seed=seed, driver=monitor.driver()
            ),
        )
    finally:
        monitor.close()
        await thread.run(engine.close)
        thread.stop()


def cell_times(probe: Probe, visits: int, enough_seconds: float, seed: int) -> dict[Any, float]:
    """Seconds of one run of each cell: the least of a few visits in shuffled order.

    Quick and rough, to derive policies from: noise only ever adds. A cell is visited again until
    it has run for `enough_seconds`, so that short ones, which noise hurts most, are visited most.
    """
    cells = list(probe.cells())
    generator = random.Random(seed)
    least: dict[Any, float] = {}
    spent = dict.fromkeys(cells, 0.0)
    for _ in range(visits):
        generator.shuffle(cells)
        for cell in cells:
            if spent[cell] < enough_seconds:
                seconds = probe.sample(cell, 1)
                least[cell] = min(seconds, least.get(cell, seconds))
                spent[cell] += seconds
    return least


def _names() -> tuple[Callable[..., Any], Callable[[list[int], int], Any], Any]:
    try:
        from decider.engine import Row, Slot, open_engine
        from decider.serve.batcher import Batcher  # noqa: F401
        from decider.serve.device_thread import DeviceThread
    except ImportError as error:
        if not (error.name or "").startswith("decider"):
            raise
        raise EngineMissingError(f"this commit has no server to measure: {error}") from None

    def row(tokens: list[int], options: int) -> Any:
        return Row(tokens, (Slot(len(tokens) - 1, options),))

    return open_engine, row, DeviceThread("benchmark-engine")
