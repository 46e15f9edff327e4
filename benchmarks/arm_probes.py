"""Probes of an arm beside the engine's: planning, the negative control, an injected delay.

What is timed when is `sampling`'s; which cells there are is `compared`'s.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks import queues
from benchmarks.models import GRID, MAX_BATCH, cost_model, needs
from benchmarks.sampling import Cell, Clock, Probe

CONTROL_SIZE = 384
CONTROL_STEPS = 8


class CallProbe:
    """Times calls: a cell is one of `calls`.

    Args:
        calls: what a cell runs, by cell.
        clock: seconds, rising. The default counts processor time: what else runs on the core
            must not count for either arm.
    """

    def __init__(
        self, calls: dict[Cell, Callable[[], object]], clock: Clock = time.process_time
    ) -> None:
        self._calls = calls
        self._clock = clock

    def cells(self) -> Sequence[Cell]:
        """The calls' names."""
        return list(self._calls)

    def sample(self, cell: Cell, repeats: int) -> float:
        """Mean seconds of one call, over `repeats` calls back to back."""
        call = self._calls[cell]
        start = self._clock()
        for _ in range(repeats):
            call()
        return (self._clock() - start) / repeats


class DelayedProbe:
    """A probe made slower: after each run it waits, busily, for a share of the run's time.

    Args:
        probe: what is slowed.
        delay: share of a run's time; 0.05 makes it 5% slower.
    """

    def __init__(self, probe: Probe, delay: float, clock: Clock = time.perf_counter) -> None:
        self._probe = probe
        self._delay = delay
        self._clock = clock

    def cells(self) -> Sequence[Cell]:
        """Those of the probe that is slowed."""
        return self._probe.cells()

    def sample(self, cell: Cell, repeats: int) -> float:
        """Mean seconds of one run with its delay, over `repeats` of them."""
        start = self._clock()
        for _ in range(repeats):
            taken = self._probe.sample(cell, 1)
            end = self._clock() + self._delay * taken
            while self._clock() < end:
                pass
        return (self._clock() - start) / repeats


def planning_probe(cells: Sequence[tuple[str, tuple[str, int, str]]]) -> CallProbe:
    """Plans of frozen queues, each by a planner made in advance, as in a server.

    Args:
        cells: name of each cell, and mix, rows and cost model of its queue.

    Raises:
        NotImplementedError: the commit under test has no planner.
    """
    try:
        from decider.batching import Planner
    except ImportError:
        Planner = None
    needs(Planner)

    def call(mix: str, rows: int, cost: str) -> Callable[[], object]:
        lengths = queues.queue(mix, rows)
        planner = Planner(GRID, cost_model(cost), MAX_BATCH)
        return lambda: planner.plan(lengths)

    return CallProbe({name: call(*queue) for name, queue in cells})


def control_probe(name: str, device: str, clock: Clock) -> CallProbe:
    """Work that no commit of `decider` can change: products of fixed matrices, on `device`.

    It moves only when the two processes were treated differently, by the machine or by us.
    """
    import torch

    generator = torch.Generator().manual_seed(1)
    matrix = torch.rand(CONTROL_SIZE, CONTROL_SIZE, generator=generator).to(device)

    def call() -> Any:
        product = matrix
        for _ in range(CONTROL_STEPS):
            product = torch.tanh(product @ matrix)
        return product.sum().item()  # waits for the device

    return CallProbe({name: call}, clock)
