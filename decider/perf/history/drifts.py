"""Which steps of a series are one slow change: a drift.

The detector of steps finds a drift too, as a staircase. Here a straight ramp between two levels is
fitted in its place, and taken where it explains the values better. Knows numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from decider.perf.history.steps import CLIPPED, Step, Values, deviation, median

SHORTEST_DRIFT = 10
"""Commits; what happens within fewer is a step."""

MARGIN = 2.0
"""By how much the ramp's information criterion must be better: when in doubt, a step."""

MOST_PLACES = 200
"""Places at which a ramp is tried to begin and to end; of a longer stretch, every second or so."""


@dataclass(frozen=True)
class Drift:
    """A slow change: the last index at the old level, the first at the new one, both levels.

    Its chance is that of the likeliest to be real of the steps that it takes the place of.
    """

    start: int
    end: int
    before: float
    after: float
    chance: float = 0.0


def split_drifts(values: Values, steps: Sequence[Step]) -> list[Step | Drift]:
    """`steps` in order, with drifts in the place of those that they explain better."""
    bounds = [0, *(step.index for step in steps), len(values)]
    found: list[Step | Drift] = []
    for run in _runs(values, bounds):
        begin = found[-1].end if found and isinstance(found[-1], Drift) else 0
        found += _Splitter(values, bounds, steps).split(run, begin, len(values))
    return found


def _runs(values: Values, bounds: Sequence[int]) -> Iterator[range]:
    """Steps next to each other that go the same way, as ranges of their places in `bounds`."""
    levels = [np.median(values[a:b]) for a, b in pairwise(bounds)]
    rises = [after > before for before, after in pairwise(levels)]
    first = 0
    for place in range(1, len(rises) + 1):
        if place == len(rises) or rises[place] != rises[first]:
            yield range(first + 1, place + 1)
            first = place


@dataclass(frozen=True)
class _Splitter:
    values: Values
    bounds: Sequence[int]
    steps: Sequence[Step]

    def split(self, run: range, begin: int, end: int) -> list[Step | Drift]:
        """Of a run, the part that a ramp explains best; then what is left on both sides of it.

        Only values from `begin` to before `end` are looked at: the others belong to other drifts.
        """
        if not run:
            return []
        begin, end = max(begin, self.bounds[run.start - 1]), min(end, self.bounds[run.stop])
        stairs = _Stairs(self.values[begin:end], [self.bounds[k] - begin for k in run])
        parts = [(a, b) for a in range(len(run)) for b in range(a + 1, len(run) + 1)]
        ramps = [(ramp, part) for part in parts if (ramp := stairs.better_ramp(*part))]
        if not ramps:
            return [self.steps[k - 1] for k in run]
        (_, drift), (a, b) = max(ramps, key=lambda one: one[0][0])
        part = run[a:b]
        drift = replace(
            drift,
            start=drift.start + begin,
            end=drift.end + begin,
            chance=min(self.steps[k - 1].chance for k in part),
        )
        return [
            *self.split(range(run.start, part.start), begin, drift.start + 1),
            drift,
            *self.split(range(part.stop, run.stop), drift.end, end),
        ]


class _Stairs:
    """Steps between levels, on values without spikes."""

    def __init__(self, values: Values, steps: Sequence[int]) -> None:
        self._bounds = [0, *steps, len(values)]
        parts = [values[a:b] for a, b in pairwise(self._bounds)]
        levels = np.concatenate([np.full(len(part), median(part)) for part in parts])
        reach = CLIPPED * deviation(values - levels, 0.0)
        self._values = np.clip(values, levels - reach, levels + reach) if reach else values
        self._squares = self._squares_of(0, len(steps) + 1)

    def better_ramp(self, first: int, last: int) -> tuple[float, Drift] | None:
        """The ramp in the place of the steps from `first` to before `last`, and its gain.

        The gain is by how much Bayes' information criterion of all values is better with it; None
        where it is not by `MARGIN`.
        """
        begin, end = self._bounds[first], self._bounds[last + 1]
        fitted = fit_ramp(self._values[begin:end])
        if fitted is None:
            return None
        drift, squares = fitted
        count = len(self._values)
        changed = self._squares - self._squares_of(first, last + 1) + squares
        fewer = 2 * (last - first) - 3  # a step is a place and a level, a ramp two and a level
        gain = count * (_log(self._squares) - _log(changed)) + fewer * math.log(count)
        moved = replace(drift, start=drift.start + begin, end=drift.end + begin)
        return (gain, moved) if gain > MARGIN else None

    def _squares_of(self, first: int, last: int) -> float:
        """The sum of squares of the stretches from `first` to before `last` about their means."""
        parts = [self._values[a:b] for a, b in pairwise(self._bounds[first : last + 1])]
        return float(sum(((part - part.mean()) ** 2).sum() for part in parts))


def _log(squares: float) -> float:
    return math.log(max(squares, 1e-300))


def fit_ramp(values: Values) -> tuple[Drift, float] | None:
    """The ramp of at least `SHORTEST_DRIFT` commits with the least squares, and their sum.

    Level until `start`, then straight to the other level at `end`. Every pair of places is tried at
    once: with running sums, the sums of a regression on a ramp have closed forms.
    """
    count = len(values)
    places = np.arange(0, count, max(1, math.ceil(count / MOST_PLACES)))
    start, end = (grid.ravel() for grid in np.meshgrid(places, places, indexing="ij"))
    long_enough = end - start >= SHORTEST_DRIFT
    start, end = start[long_enough], end[long_enough]
    if not len(start):
        return None
    centered = values - values.mean()
    sums = np.concatenate([[0.0], np.cumsum(centered)])
    moments = np.concatenate([[0.0], np.cumsum(centered * np.arange(count))])
    length = end - start
    x = (length - 1) / 2 + (count - end)  # the sum of the ramp's heights, from 0 to 1
    xx = (length - 1) * (2 * length - 1) / (6 * length) + (count - end) - x**2 / count
    inside = moments[end] - moments[start + 1] - start * (sums[end] - sums[start + 1])
    xy = inside / length + sums[count] - sums[end]
    squares = (centered**2).sum() - xy**2 / xx
    best = int(squares.argmin())
    slope = float(xy[best] / xx[best])
    base = float(values.mean() - slope * x[best] / count)
    drift = Drift(int(start[best]), int(end[best]), base, base + slope)
    return drift, max(0.0, float(squares[best]))
