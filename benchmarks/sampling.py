"""Sampling the cells of a probe: warm-up, interleaved blocks and the stopping rule.

A probe times one cell at a time; what it runs, on what device and in which process is its own
business. Everything here is about when to ask it: the same probe is driven by `Sampler` in one
process and, cell by cell through `warm_up` and `sample_block`, by a comparison of two processes.
Knows no shapes, no engine, no asv and no files; needs the standard library only.

A block is one visit to a cell. Samples inside a block share whatever the machine did at that
moment, so they are never counted as independent: a block stands for its median, and the interval
of a cell is the order-statistic interval of the median of its blocks. That assumes blocks of a
cell to be exchangeable, which random interleaving makes plausible; it assumes no distribution.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Protocol

from benchmarks.intervals import MINIMUM_VALUES, Estimate, estimate

Cell = Any
"""What a probe calls a cell: anything hashable."""

Clock = Callable[[], float]
Device = Mapping[str, Any]

USUAL_CLOCK_SHARE = 0.75
STABLE_SAMPLES = 3
STABLE_SPREAD = 0.05


class Probe(Protocol):
    """Something that can be sampled cell by cell."""

    def cells(self) -> Sequence[Cell]:
        """The cells that can be sampled, each once."""
        ...

    def sample(self, cell: Cell, repeats: int) -> float:
        """Mean seconds of one run of `cell`, over `repeats` runs back to back."""
        ...


@dataclass(frozen=True)
class Timing:
    """How long cells are sampled and how well.

    Args:
        minimum_seconds: shortest sample; a faster run is repeated until it takes that long.
        block_seconds: a block takes samples, at least one, until it has taken that long.
        half_width: relative half-width of the 95% interval of the median at which a cell stops.
        time_cap_seconds: sampling time after which a cell stops without that.
        warm_up_seconds: longest warm-up of a cell that does not become stable.

    Raises:
        ValueError: a value is not finite and above 0; the message names it.
    """

    minimum_seconds: float = 0.005
    block_seconds: float = 0.02
    half_width: float = 0.03
    time_cap_seconds: float = 2.0
    warm_up_seconds: float = 0.3

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not math.isfinite(value) or value <= 0:
                raise ValueError(f"{name} must be finite and above 0, not {value!r}")


@dataclass(frozen=True)
class Block:
    """Samples of one visit to a cell, in seconds of one run, and the device's state after it."""

    seconds: Sequence[float]
    device: Device | None = None


@dataclass
class CellSamples:
    """What is known of one cell.

    Attributes:
        blocks: every block measured, in order, dropped ones included.
        repeats: runs in one sample; 0 before the warm-up.
        spent: seconds spent in its blocks.
        stop: why sampling ended ("interval" or "time"); None while it has not.
    """

    cell: Cell
    blocks: list[Block] = field(default_factory=list)
    repeats: int = 0
    spent: float = 0.0
    stop: str | None = None

    @property
    def kept(self) -> list[Block]:
        """The blocks that count: those measured at the usual clock, or at an unknown one.

        A block below 75% of the usual clock is dropped. Usual is the median over the blocks of the
        same cell: a shape heavy enough to be held at a lower clock by the power limit is always so,
        and must not lose all its blocks for it.
        """
        return self._split()[0]

    @property
    def dropped(self) -> list[Block]:
        """The blocks that `kept` leaves out."""
        return self._split()[1]

    def _split(self) -> tuple[list[Block], list[Block]]:
        clocks = [clock for block in self.blocks if (clock := _sm_clock(block)) is not None]
        slowest = USUAL_CLOCK_SHARE * median(clocks) if clocks else 0.0
        kept: list[Block] = []
        dropped: list[Block] = []
        for block in self.blocks:
            clock = _sm_clock(block)
            (kept if clock is None or clock >= slowest else dropped).append(block)
        return kept, dropped

    def block_medians(self) -> list[float]:
        """One value a kept block, in seconds: what the statistics are made of."""
        return [median(block.seconds) for block in self.kept]

    def estimate(self) -> Estimate:
        """Median and interval over the kept blocks.

        Raises:
            ValueError: there is no block.
        """
        return estimate(self.block_medians())


def warm_up(probe: Probe, cell: Cell, timing: Timing, clock: Clock = time.perf_counter) -> int:
    """Run `cell` until its time is stable; return how many runs make a sample long enough.

    Stable: the last three samples lie within 5% of each other. A cell that is not yet so once
    `timing.warm_up_seconds` have passed ends there, after one sample at least.
    """
    start = clock()
    seconds: list[float] = []
    repeats = 1
    while not _is_stable(seconds):
        seconds.append(probe.sample(cell, repeats))
        repeats = max(1, math.ceil(timing.minimum_seconds / max(seconds[-1], 1e-9)))
        if clock() - start >= timing.warm_up_seconds:
            break
    return repeats


def sample_block(
    probe: Probe, cell: Cell, repeats: int, timing: Timing, clock: Clock = time.perf_counter
) -> list[float]:
    """One visit to `cell`: its samples, in seconds of one run."""
    start = clock()
    seconds = [probe.sample(cell, repeats)]
    while clock() - start < timing.block_seconds:
        seconds.append(probe.sample(cell, repeats))
    return seconds


class Sampler:
    """Samples every cell of a probe in randomised, interleaved blocks.

    A round visits each cell that has not stopped once, in a new random order. After its block a
    cell stops when the interval of its median is narrow enough or its time is up, in both cases
    after `MINIMUM_VALUES` kept blocks.

    Args:
        seed: of the order of the cells.
        clock: seconds, rising.
        read_device: the device's state now, stored with each block.
        known: cells sampled before, to go on with; blocks are added to them.
    """

    def __init__(
        self,
        probe: Probe,
        timing: Timing,
        *,
        seed: int | str = 0,
        clock: Clock = time.perf_counter,
        read_device: Callable[[], Device | None] = lambda: None,
        known: Iterable[CellSamples] = (),
    ) -> None:
        self.probe = probe
        self.timing = timing
        self.samples = {cell: CellSamples(cell) for cell in probe.cells()}
        self.samples |= {samples.cell: samples for samples in known}
        self.rounds = 0
        self.warm_up_spent = 0.0
        self._random = random.Random(seed)
        self._clock = clock
        self._read_device = read_device

    @property
    def waiting(self) -> list[CellSamples]:
        """The cells that have not stopped."""
        return [samples for samples in self.samples.values() if samples.stop is None]

    @property
    def spent(self) -> float:
        """Seconds spent in blocks, over all cells."""
        return sum(samples.spent for samples in self.samples.values())

    def run(
        self,
        *,
        budget_seconds: float = math.inf,
        progress: Callable[[Sampler], None] = lambda _: None,
    ) -> None:
        """Sample until every cell has stopped.

        An exception of the probe or of `progress`, an interrupt included, passes through; finished
        blocks are kept in `samples`.

        Args:
            budget_seconds: time after which no block begins: cells with enough blocks stop with
                "time", the others stay without a stop.
            progress: called after every block and every warm-up.
        """
        end = self._clock() + budget_seconds
        for samples in self._shuffled():
            if self._clock() >= end:
                break
            self._warm_up(samples)
            progress(self)
        while self.waiting and self._clock() < end:
            for samples in self._shuffled():
                if self._clock() >= end:
                    break
                self._visit(samples)
                progress(self)
            self.rounds += 1
        for samples in self.waiting:
            if len(samples.kept) >= MINIMUM_VALUES:
                samples.stop = "time"

    def seconds_left(self) -> float:
        """How long the waiting cells will still take: a guess from their intervals so far."""
        return sum(self._seconds_left(samples) for samples in self.waiting)

    def _shuffled(self) -> list[CellSamples]:
        waiting = self.waiting
        self._random.shuffle(waiting)
        return waiting

    def _warm_up(self, samples: CellSamples) -> None:
        start = self._clock()
        samples.repeats = warm_up(self.probe, samples.cell, self.timing, self._clock)
        self.warm_up_spent += self._clock() - start

    def _visit(self, samples: CellSamples) -> None:
        start = self._clock()
        seconds = sample_block(self.probe, samples.cell, samples.repeats, self.timing, self._clock)
        samples.spent += self._clock() - start
        samples.blocks.append(Block(seconds, self._read_device()))
        if len(samples.kept) < MINIMUM_VALUES:
            return
        if samples.estimate().half_width <= self.timing.half_width:
            samples.stop = "interval"
        elif samples.spent >= self.timing.time_cap_seconds:
            samples.stop = "time"

    def _seconds_left(self, samples: CellSamples) -> float:
        timing = self.timing
        if not samples.blocks:
            return timing.time_cap_seconds
        block = samples.spent / len(samples.blocks)
        missing = max(1, MINIMUM_VALUES - len(samples.kept))
        if missing > 1:
            return missing * block
        # the interval narrows with the square root of the blocks
        wider = samples.estimate().half_width / timing.half_width
        predicted = len(samples.blocks) * (wider**2 - 1) * block
        return max(block, min(predicted, timing.time_cap_seconds - samples.spent))


def _is_stable(seconds: Sequence[float]) -> bool:
    last = seconds[-STABLE_SAMPLES:]
    return len(last) == STABLE_SAMPLES and max(last) <= (1 + STABLE_SPREAD) * min(last)


def _sm_clock(block: Block) -> float | None:
    return None if block.device is None else block.device.get("sm_mhz")
