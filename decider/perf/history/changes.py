"""Steps and drifts in one series of values: what is found, and the one function that finds it.

Knows numbers and whether higher is better; no commits, no files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from decider.perf.history.detection import detect
from decider.perf.history.drifts import Drift
from decider.perf.history.places import Place, place_of_step
from decider.perf.history.steps import Step, Values


@dataclass(frozen=True)
class Change:
    """A step or a drift. Indices are into the values that were searched.

    Attributes:
        kind: a step happens from one commit to the next, a drift over ten and more.
        index: the first value known to be after a step; the first at the new level of a drift.
        after: the last value known to be before it. The change is in (after, index].
        before_value, after_value: median of the values from the change before this one, and to the
            one after it; of a drift the levels that it leads from and to.
        change: relative, `after_value / before_value - 1`; infinite or NaN from zero.
        worse: whether it is for the worse.
        most_likely: the likeliest first value after a step; of a drift, `index`.
        chance: how often a series without any change gives one so clear; 0 of an exact one. It
            allows for the places in a series, not for how many series are searched.
    """

    kind: Literal["step", "drift"]
    index: int
    after: int
    before_value: float
    after_value: float
    change: float
    worse: bool
    most_likely: int
    chance: float


def find_changes(
    values: Sequence[float], *, higher_is_better: bool = False, exact: bool = False
) -> list[Change]:
    """The steps and drifts in a series, in order.

    Noisy values are searched as `docs/history.md` tells. Fewer than eight measured ones are too few
    for any change; a change is found when three commits or more are after it.

    Args:
        values: in commit order; NaN or infinite where there is none. Noise is taken to be relative
            where all are above zero.
        higher_is_better: for rates; by default, as for times and costs, lower is better.
        exact: whether the values have no noise, so that every difference is a step.
    """
    known = [index for index, value in enumerate(values) if math.isfinite(value)]
    measured = np.array([values[index] for index in known], dtype=np.float64)
    found = _differences(measured) if exact else _events(measured)
    return [_change(event, known, higher_is_better) for event in found]


@dataclass(frozen=True)
class _Event:
    kind: Literal["step", "drift"]
    place: Place
    before: float
    after: float
    chance: float


def _differences(values: Values) -> list[_Event]:
    return [
        _Event("step", Place(index + 1, index + 1, index + 1), float(before), float(after), 0.0)
        for index, (before, after) in enumerate(pairwise(values))
        if before != after
    ]


def _events(values: Values) -> list[_Event]:
    if not len(values):
        return []
    logarithmic = bool(values.min() > 0)
    # Beside a zero only sizes matter; the largest is 1, so that no square is too large.
    searched = np.log(values) if logarithmic else values / (np.abs(values).max() or 1.0)
    found = detect(searched)
    # A change's own stretch begins at the new level of the one before it.
    begins = [0, *(one.index if isinstance(one, Step) else one.end for one in found)]
    ends = [
        *(one.index if isinstance(one, Step) else one.start + 1 for one in found[1:]),
        len(values),
    ]
    return [
        _drift(one, values, logarithmic)
        if isinstance(one, Drift)
        else _step(one, values, searched, begin, end)
        for one, begin, end in zip(found, begins, ends, strict=False)
    ]


def _drift(drift: Drift, values: Values, logarithmic: bool) -> _Event:
    levels = np.array([drift.before, drift.after])
    before, after = map(float, np.exp(levels) if logarithmic else levels * np.abs(values).max())
    return _Event(
        "drift", Place(drift.start + 1, drift.end, drift.end), before, after, drift.chance
    )


def _step(step: Step, values: Values, searched: Values, begin: int, end: int) -> _Event:
    place = place_of_step(searched[begin:end], step.index - begin)
    split = begin + place.most_likely
    return _Event(
        "step",
        Place(begin + place.first, split, begin + place.last),
        float(np.median(values[begin:split])),
        float(np.median(values[split:end])),
        step.chance,
    )


def _change(event: _Event, known: Sequence[int], higher_is_better: bool) -> Change:
    before, after = event.before, event.after
    return Change(
        event.kind,
        known[event.place.last],
        known[event.place.first - 1],
        before,
        after,
        relative_change(before, after),
        (after < before) == higher_is_better,
        known[event.place.most_likely],
        event.chance,
    )


def relative_change(before: float, after: float) -> float:
    """`after` over `before`, minus 1; infinite from zero, NaN from zero to zero."""
    if before == 0:
        return math.copysign(math.inf, after) if after else math.nan
    return (after - before) / abs(before)
