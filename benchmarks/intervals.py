"""The interval of a median, by order statistics: no distribution is assumed.

Small on purpose: it must run where only numpy is installed beside torch. Knows numbers only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

CONFIDENCE = 0.95
MINIMUM_VALUES = 6
"""The fewest values whose extremes hold the median with 95% confidence: 1 - 2/2**6 = 0.969."""


@dataclass(frozen=True)
class Estimate:
    """A median with its 95% interval, in the unit of the values, and the relative half-width.

    With fewer than `MINIMUM_VALUES` values the interval is their range, which holds the median
    less often than that.
    """

    median: float
    interval: tuple[float, float]
    half_width: float


def median_ranks(count: int) -> tuple[int, int]:
    """Ranks (from 0) of the order statistics that bound the median of `count` values at 95%.

    The number of values below the median is binomial(count, 1/2), whatever the distribution, so
    the chance that the interval misses is known (Conover, Practical Nonparametric Statistics,
    section 3.2). Below `MINIMUM_VALUES` values no pair reaches 95%: the extremes are returned.

    Raises:
        ValueError: `count` is below 1.
    """
    if count < 1:
        raise ValueError("no values: nothing bounds their median")
    # exact: of the 2**count ways to fall below or above, `ways` have `low` values below
    low, ways, missed = 0, 1, 1
    while True:
        ways = ways * (count - low) // (low + 1)
        if 2 * (missed + ways) / 2**count > 1 - CONFIDENCE:
            break
        low, missed = low + 1, missed + ways
    return low, count - 1 - low


def estimate(values: Iterable[float]) -> Estimate:
    """The median of `values`, its 95% interval and half-width.

    Raises:
        ValueError: there are no values.
    """
    ordered = sorted(values)
    low, high = median_ranks(len(ordered))
    middle = median(ordered)
    interval = (ordered[low], ordered[high])
    return Estimate(middle, interval, (interval[1] - interval[0]) / 2 / middle)
