"""Percentiles of latencies, with intervals that admit that requests of one queue wait together.

The number of values below the true percentile is binomial whatever the distribution, so two order
statistics bound it (Conover, Practical Nonparametric Statistics, section 3.2). That holds for
independent values; requests of one queue wait together. So the count is lowered to that of as many
independent values as would vary alike: by batch means of the indicator "not above the percentile"
(Heidelberger and Lewis, Quantile estimation in dependent sequences, 1984). A percentile that the
lowered count cannot bound on both sides is left out. Knows numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

PERCENTS = (50.0, 90.0, 95.0, 99.0, 99.9)
CONFIDENCE = 0.95
BATCHES = 20
MINIMUM_VALUES = 2 * BATCHES
"""Below this no percentile is given: nothing is known of how values depend on each other."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Percentile:
    """A percentile with its 95% interval, in the unit of the values.

    Attributes:
        percent: share of the values that do not exceed it, from 0 to 100.
        value: the smallest value that so many do not exceed.
        interval: two of the values; the true percentile is between them with 95% confidence.
        independent: how many independent values tell as much, at most the number of values.
    """

    percent: float
    value: float
    interval: tuple[float, float]
    independent: int


def percentiles(values: npt.ArrayLike, percents: Sequence[float] = PERCENTS) -> list[Percentile]:
    """The percentiles that the values support, in the order asked for.

    Args:
        values: in the order in which they came about, since dependence is judged by it.
        percents: each above 0 and below 100.

    Raises:
        ValueError: a percentage out of range, or a value that is not finite.
    """
    array = np.asarray(values, dtype=np.float64).reshape(-1)
    if not np.isfinite(array).all():
        raise ValueError(f"value {array[~np.isfinite(array)][0]!r} is not finite")
    for percent in percents:
        if not 0 < percent < 100:
            raise ValueError(f"percentile {percent!r} is not above 0 and below 100")
    if len(array) < MINIMUM_VALUES:
        return []
    ordered = np.sort(array)
    found = (_percentile(array, ordered, percent) for percent in percents)
    return [percentile for percentile in found if percentile is not None]


def _percentile(array: Values, ordered: Values, percent: float) -> Percentile | None:
    count, share = len(ordered), percent / 100
    value = float(ordered[math.ceil(round(share * count, 9)) - 1])
    independent = _independent(array <= value, share)
    ranks = rank_interval(independent, share)
    if ranks is None:
        return None
    # The same places in the whole sample, outwards to the next value.
    low, high = (rank / (independent + 1) * (count + 1) for rank in ranks)
    bounds = ordered[max(0, math.floor(low) - 1)], ordered[min(count, math.ceil(high)) - 1]
    return Percentile(percent, value, (float(bounds[0]), float(bounds[1])), independent)


def _independent(below: npt.NDArray[np.bool_], share: float) -> int:
    """The number of independent indicators whose mean varies as the mean of these does."""
    size = len(below) // BATCHES
    means = below[: size * BATCHES].reshape(BATCHES, size).mean(axis=1)
    inflation = size * float(means.var(ddof=1)) / (share * (1 - share))
    return max(1, int(len(below) / max(1.0, inflation)))


def rank_interval(count: int, share: float) -> tuple[int, int] | None:
    """Ranks (from 1) of the order statistics that bound a quantile of independent values.

    The narrowest pair that misses on either side with a chance of at most 2.5%; None where even the
    extremes of `count` values miss more often.
    """
    cumulative = _binomial_cumulative(count, share)
    tail = (1 - CONFIDENCE) / 2
    low = int(np.searchsorted(cumulative, tail, side="right"))
    high = int(np.searchsorted(cumulative, 1 - tail, side="left")) + 1
    return None if low < 1 or high > count else (low, high)


def _binomial_cumulative(count: int, share: float) -> Values:
    """The chance that a binomial(count, share) number is at most 0, 1, ..., count."""
    steps = np.arange(1, count + 1)
    ratios = np.log((count + 1 - steps) / steps) + math.log(share / (1 - share))
    logarithms = np.concatenate([[0.0], np.cumsum(ratios)]) + count * math.log1p(-share)
    return np.cumsum(np.exp(logarithms))
