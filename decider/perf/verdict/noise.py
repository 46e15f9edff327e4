"""Comparisons of which the truth is known, slot by slot along the time they would take.

A pair is two new processes that start and then take the cells in turn, four slots a cell in the
order ABBA; the process that started first is A, and which arm that is, a coin decides for each two
pairs and is swapped in the second. Every process has its own effect on every cell, every slot its
own small noise, and what else the machine does goes by the slot's place in time. Simulates; judges
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Random = np.random.Generator

SLOT_NOISE = 0.002
"""Standard deviation of the logarithm of one slot's time."""
START_SLOTS = 40
"""Slots that two processes take to start."""
DRIFT = 0.10
"""How much slower the machine is at the end of the longest run than at its beginning."""
WALK_OF_A_PAIR = 0.01
"""Standard deviation by which a random walk moves while one pair is measured."""
SLOW_MINUTE = 0.30
SLOW_PAIRS = 4.0
"""A slow stretch makes everything take 30% longer, for as long as four pairs take."""
ODD_SHARE = 0.3
"""Share of the processes that are slow, where processes are of two kinds."""


@dataclass(frozen=True)
class Noise:
    """A kind of noise.

    Attributes:
        name: for the command line.
        title: for people.
        process: (random, [suites, pairs, arms, cells]) to what each process adds to the logarithm
            of each cell's time, of standard deviation 1.
        machine: (random, suites, pairs, slots of a pair) to what the machine adds to the logarithm
            of each slot's time, an array [suites, pairs * slots]; None for nothing.
    """

    name: str
    title: str
    process: Callable[[Random, tuple[int, int, int, int]], Floats]
    machine: Callable[[Random, int, int, int], Floats] | None = None


@dataclass(frozen=True)
class Runs:
    """Simulated runs.

    Attributes:
        base, head: logarithms of the slots' times [suites, pairs, cells, 2 slots].
    """

    base: Floats
    head: Floats

    @property
    def log_ratios(self) -> Floats:
        """Head over base [suites, pairs, cells]."""
        ratios: Floats = self.head.mean(axis=-1) - self.base.mean(axis=-1)
        return ratios


def simulate(
    noise: Noise, suites: int, pairs: int, cells: int, *, process_noise: float, random: Random
) -> Runs:
    """Runs in which the arms do not differ.

    Every cell is sampled in every pair, as if none were decided.

    Args:
        noise: its kind.
        suites, pairs, cells: how many.
        process_noise: standard deviation of what a process adds to the logarithm of a cell's time.
        random: where chance comes from.
    """
    process = process_noise * noise.process(random, (suites, pairs, 2, cells))
    slots = random.normal(0, SLOT_NOISE, (suites, pairs, cells, 4))
    if noise.machine is not None:
        slots += _by_cell(noise.machine(random, suites, pairs, START_SLOTS + 4 * cells), pairs)
    first = slots[..., [0, 3]] + process[:, :, 0, :, None]
    second = slots[..., [1, 2]] + process[:, :, 1, :, None]
    head_first = _head_starts(random, suites, pairs)[:, :, None, None]
    return Runs(base=np.where(head_first, second, first), head=np.where(head_first, first, second))


def _by_cell(path: Floats, pairs: int) -> Floats:
    """The machine's path over all slots as [suites, pairs, cells, 4], without the starts."""
    suites = len(path)
    measured = path.reshape(suites, pairs, -1)[:, :, START_SLOTS:]
    return measured.reshape(suites, pairs, -1, 4)


def _head_starts(random: Random, suites: int, pairs: int) -> npt.NDArray[np.bool_]:
    coins = random.random((suites, (pairs + 1) // 2)) < 0.5
    return np.stack([coins, ~coins], axis=2).reshape(suites, -1)[:, :pairs]


def _normal(random: Random, shape: tuple[int, int, int, int]) -> Floats:
    return random.normal(size=shape)


def _student(random: Random, shape: tuple[int, int, int, int]) -> Floats:
    values: Floats = random.standard_t(3, shape) / np.sqrt(3.0)
    return values


def _two_kinds(random: Random, shape: tuple[int, int, int, int]) -> Floats:
    deviation = np.sqrt(ODD_SHARE * (1 - ODD_SHARE))
    values: Floats = (random.random(shape) < ODD_SHARE) / deviation
    return values


def _two_kinds_of_process(random: Random, shape: tuple[int, int, int, int]) -> Floats:
    """All cells of a process alike."""
    return np.broadcast_to(_two_kinds(random, (*shape[:3], 1)), shape)


def _drift(random: Random, suites: int, pairs: int, slots: int) -> Floats:  # noqa: ARG001
    path = np.linspace(0, np.log1p(DRIFT), pairs * slots)
    return np.broadcast_to(path, (suites, pairs * slots))


def _walk(random: Random, suites: int, pairs: int, slots: int) -> Floats:
    steps = random.normal(0, WALK_OF_A_PAIR / np.sqrt(slots), (suites, pairs * slots))
    return np.cumsum(steps, axis=1)


def _slow_minute(random: Random, suites: int, pairs: int, slots: int) -> Floats:
    length = SLOW_PAIRS * slots
    start = random.uniform(-length, pairs * slots, (suites, 1))
    slot = np.arange(pairs * slots)
    path: Floats = np.log1p(SLOW_MINUTE) * ((slot >= start) & (slot < start + length))
    return path


NOISES = (
    Noise("normal", "normal", _normal),
    Noise("t3", "t with 3 degrees of freedom", _student),
    Noise("bimodal-cells", "two kinds of process, each cell for itself", _two_kinds),
    Noise("bimodal-processes", "two kinds of process, all cells alike", _two_kinds_of_process),
    Noise("drift", "normal, and linear drift", _normal, _drift),
    Noise("walk", "normal, and random walk", _normal, _walk),
    Noise("slow-minute", "normal, and one slow minute", _normal, _slow_minute),
)
