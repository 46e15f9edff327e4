"""How often each cell was measured, and how much that varied.

Blocks are interleaved: each visits the cells of the grid in turn. What a whole block shares (a
clock that drifts, a neighbour on the machine) is therefore common to all cells and says nothing
about their ratio. It is divided out, so that cells that stopped early compare with those that did
not. Knows samples; knows no cost model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import median

import numpy as np
import numpy.typing as npt
from scipy import special

from decider.grid import Shape
from decider.perf.calibration.measurement import Cell, Measurement

Floats = npt.NDArray[np.float64]

Block = list[float]

POLISHING_ROUNDS = 5
STEPS = 4_096
"""The shares of a bootstrap sample at which weights are looked up: far finer than its noise."""


@dataclass(frozen=True)
class Replicates:
    """The samples of every cell, levelled, by independent unit.

    A unit is what may be resampled: a run where several processes measured, or else a block.

    Attributes:
        shapes: the cells, in the measurement's order.
        blocks: for each cell its levelled blocks, in milliseconds.
        runs: for each cell and block the number of the run it belongs to.
    """

    shapes: tuple[Shape, ...]
    blocks: tuple[tuple[Block, ...], ...]
    runs: tuple[tuple[int, ...], ...]

    @cached_property
    def tokens(self) -> Floats:
        """Padded tokens of each cell's forward."""
        return np.array([shape.batch * shape.length for shape in self.shapes], dtype=float)

    @cached_property
    def medians(self) -> Floats:
        """Median of each cell's samples, in milliseconds, see `smooth_median`."""
        return np.array([smooth_median(_joined(blocks)) for blocks in self.blocks])

    @cached_property
    def run_numbers(self) -> list[int]:
        """The runs, each once."""
        return sorted({run for runs in self.runs for run in runs})

    @cached_property
    def units(self) -> list[list[Block]]:
        """For each cell the samples of each of its units."""
        if len(self.run_numbers) == 1:
            return [list(blocks) for blocks in self.blocks]
        return [
            [_joined(own) for own in _by_run(blocks, runs).values()]
            for blocks, runs in zip(self.blocks, self.runs, strict=True)
        ]

    def of_run(self, number: int) -> Replicates:
        """What one run measured of the cells that it visited."""
        blocks = [
            _by_run(blocks, runs).get(number, ())
            for blocks, runs in zip(self.blocks, self.runs, strict=True)
        ]
        kept = [(shape, own) for shape, own in zip(self.shapes, blocks, strict=True) if own]
        return Replicates(
            tuple(shape for shape, _ in kept),
            tuple(tuple(own) for _, own in kept),
            tuple((number,) * len(own) for _, own in kept),
        )

    def resampled_medians(self, draws: int, random: np.random.Generator) -> Floats:
        """Medians of every cell in bootstrap samples of its units: an array [draws, cells].

        Each cell draws one unit fewer than it has, with replacement, which makes the variance of a
        cell right where units are few (Rao and Wu, 1988: the rescaling bootstrap for strata). A
        cell with one unit keeps its median.
        """
        return np.stack([_resampled(units, draws, random) for units in self.units], axis=1)


def replicates(measurement: Measurement) -> Replicates:
    """The levelled blocks of a measurement whose times are finite and above 0."""
    blocks = [_blocks(cell) for cell in measurement.cells]
    columns = sorted({key for own in blocks for key in own})
    level = dict(zip(columns, _levels(blocks, columns), strict=True))
    return Replicates(
        tuple(cell.shape for cell in measurement.cells),
        tuple(
            tuple([ms / level[key] for ms in block] for key, block in own.items()) for own in blocks
        ),
        tuple(tuple(run for run, _ in own) for own in blocks),
    )


def _blocks(cell: Cell) -> dict[tuple[int, int], Sequence[float]]:
    """The cell's blocks by (run, place in the run)."""
    return {
        (number, place): block
        for number, run in enumerate(cell.runs)
        for place, block in enumerate(run)
    }


def _by_run(blocks: Sequence[Block], runs: Sequence[int]) -> dict[int, list[Block]]:
    by_run: dict[int, list[Block]] = {}
    for block, run in zip(blocks, runs, strict=True):
        by_run.setdefault(run, []).append(block)
    return by_run


def _joined(blocks: Sequence[Block]) -> list[float]:
    return [sample for block in blocks for sample in block]


def _levels(
    blocks: Sequence[dict[tuple[int, int], Sequence[float]]], columns: Sequence[tuple[int, int]]
) -> list[float]:
    """Each block's common factor, by a median polish (Tukey, 1977) of the logarithms.

    The factors have median 1. A block is levelled by what the median cell says, so single slow
    cells do not move it.
    """
    place = {key: index for index, key in enumerate(columns)}
    table = np.full((len(blocks), len(columns)), np.nan)
    for row, own in enumerate(blocks):
        for key, block in own.items():
            table[row, place[key]] = np.log(median(block))
    level = np.zeros(len(columns))
    for _ in range(POLISHING_ROUNDS):
        centre = np.nanmedian(table - level, axis=1)
        level = np.nanmedian(table - centre[:, None], axis=0)
    factors: list[float] = np.exp(level - np.median(level)).tolist()
    return factors


def smooth_median(samples: Sequence[float]) -> float:
    """The median by Harrell and Davis (1982): a mean of the sorted samples, the middle ones first.

    Slow outliers weigh next to nothing where samples are many. It is less noisy than the middle
    sample, and a bootstrap of it hardly exaggerates its variance, as one of the middle sample does.
    """
    edges = np.arange(len(samples) + 1) / len(samples)
    return float(np.diff(_middle(len(samples), edges)) @ np.sort(samples))


def _middle(count: float, shares: Floats) -> Floats:
    """How much of the median's weight lies below each share of `count` sorted samples."""
    return np.asarray(special.betainc((count + 1) / 2, (count + 1) / 2, shares))


@lru_cache(maxsize=256)
def _lookup(count: float) -> Floats:
    return _middle(count, np.linspace(0, 1, STEPS + 1))


def _resampled(units: Sequence[Block], draws: int, random: np.random.Generator) -> Floats:
    """Smooth medians of `draws` bootstrap samples of one cell."""
    count = len(units)
    if count == 1:
        return np.full(draws, smooth_median(units[0]))
    samples = np.concatenate(units)
    unit_of = np.repeat(np.arange(count), [len(unit) for unit in units])
    order = np.argsort(samples, kind="stable")
    taken = random.multinomial(count - 1, np.full(count, 1 / count), size=draws)
    below = taken[:, unit_of[order]].cumsum(axis=1)
    steps = np.rint(below * (STEPS / below[:, -1:])).astype(np.int32)
    weight_below = _lookup(len(samples) * (count - 1) / count)[steps]
    gaps = np.diff(samples[order], append=0)
    return np.asarray(-(weight_below @ gaps))  # sum of weight x sample, by parts
