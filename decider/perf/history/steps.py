"""Where the level of a noisy series changes.

asv's detector proposes, generously; here each proposal is tested against the two stretches beside
it. asv alone is far too careful for what is asked of it here: see docs/history.md. Knows numbers
only: no commits, no units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

Values = NDArray[np.float64]

LEAST_STRETCH = 5
"""Commits between two changes, and before the first: what is over sooner is no new level."""

LEAST_NEWEST = 3
"""Commits after the last change, which shall be found soon."""

LEAST_COMMITS = LEAST_STRETCH + LEAST_NEWEST

LEVEL = 0.01
"""Of the test of a series: the chance of a step in a series without one is about this, as
simulated for series of 10 to 500 commits; see docs/history.md."""

PENALTY = 3.0
"""What a step must save asv's detector, as a sum of absolute distances in standard deviations of
the noise. Low: what is proposed for nothing is found out by the test."""

CLIPPED = 2.5
"""Standard deviations from the median at which values are clipped for the test: a spike then counts
like any value that is merely unusual."""

NEWEST_TRIALS = 1.5
INNER_TRIALS = 2.0
"""How many tests at places of their own a series amounts to, for each doubling of its length. Set
on simulated series."""


@dataclass(frozen=True)
class Step:
    """A step: the index of the first value after it, and how likely chance alone would make it.

    The chance allows for the places at which a series may have a step, not for other series.
    """

    index: int
    chance: float


def find_steps(values: Values, proposed: Sequence[int], correlation: float = 0.0) -> list[Step]:
    """Those of the proposed steps that chance does not explain, in order.

    The weakest is taken away, again and again, until none is weak.

    Args:
        values: finite, in order, with noise of about one size.
        proposed: as `propose_steps` does it.
        correlation: of each value's noise with the next one's.
    """
    bounds = [0, *proposed, len(values)]
    test = _Test(values, correlation)
    weakness = [test.weakness(bounds, k) for k in range(1, len(bounds) - 1)]
    while weakness:
        weakest = max(weakness)
        if weakest < (False, LEVEL):
            return [Step(*one) for one in zip(bounds[1:-1], (w[1] for w in weakness), strict=True)]
        place = weakness.index(weakest)
        del weakness[place], bounds[place + 1]
        for k in (place, place + 1):  # only the bounds beside it have other neighbours now
            if 0 < k < len(bounds) - 1:
                weakness[k - 1] = test.weakness(bounds, k)
    return []


def propose_steps(values: Values) -> list[int]:
    """The first index of each stretch of about one level but the first, by asv's Potts model."""
    from asv.step_detect import solve_potts_approx  # type: ignore[import-untyped]

    if len(values) < LEAST_COMMITS or values.min() == values.max():
        return []
    ends: Sequence[int] = solve_potts_approx(
        values.tolist(),
        [1.0] * len(values),
        gamma=PENALTY * noise_of_differences(values),
        min_size=LEAST_NEWEST,
    )[0]
    return list(ends)[:-1]


def noise_of_differences(values: Values) -> float:
    """Standard deviation of the noise, from neighbours, so that steps hardly count.

    Where more than half of the neighbours are equal, all differences are averaged instead.
    """
    differences = np.diff(values)
    spread = deviation(differences) or float(np.abs(differences).mean())
    return spread / math.sqrt(2)


def deviation(values: Values, center: float | None = None) -> float:
    """Standard deviation by the median distance from `center`, by default the median."""
    middle = median(values) if center is None else center
    return 1.4826 * median(np.abs(values - middle))


def median(values: Values) -> float:
    """As `numpy.median`, without its checks, which take most of its time on short series."""
    ordered = np.sort(values)
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


class _Test:
    """How weak each step between stretches of one series is."""

    def __init__(self, values: Values, correlation: float) -> None:
        self._values = values
        self._correlation = correlation

    def weakness(self, bounds: Sequence[int], k: int) -> tuple[bool, float]:
        """Of the bound `k`: whether a stretch beside it is too short, and its chance."""
        start, middle, end = bounds[k - 1 : k + 2]
        before, after = middle - start, end - middle
        is_newest = k == len(bounds) - 2
        too_short = before < LEAST_STRETCH or after < (LEAST_NEWEST if is_newest else LEAST_STRETCH)
        parts = self._values[start:middle], self._values[middle:end]
        chance = chance_of(*parts, self._correlation)
        # A short stretch has many places in a series, unless it is the newest one.
        count = len(self._values)
        if is_newest and after < before:
            trials = NEWEST_TRIALS
        else:
            trials = INNER_TRIALS * count / min(before, after)
        return too_short, min(1.0, chance * trials * math.log2(count))


def chance_of(before: Values, after: Values, correlation: float = 0.0) -> float:
    """How likely so large a difference is if both come from one source; two-sided.

    Student's test with pooled variance, on values clipped about their common median. Values that
    are mostly equal have no deviation to clip by; there the unequal ones are counted. Where each
    value is correlated with the next, means are less certain.
    """
    both = np.concatenate([before, after])
    middle = median(both)
    spread = deviation(both, middle)
    if spread > 0:
        both = np.clip(both, middle - CLIPPED * spread, middle + CLIPPED * spread)
    left, right = both[: len(before)], both[len(before) :]
    means = left.sum() / len(left), right.sum() / len(right)
    squares = float(((left - means[0]) ** 2).sum() + ((right - means[1]) ** 2).sum())
    if squares == 0 or (left.min() == left.max() and right.min() == right.max()):
        return 0.0 if left[0] != right[0] else 1.0
    if spread == 0:
        return _chance_of_counts(before, after, middle)
    freedom = len(both) - 2
    slow = (1 + correlation) / (1 - correlation)
    error = math.sqrt(slow * squares / freedom * (1 / len(left) + 1 / len(right)))
    return 2 * float(stdtr(freedom, -abs(means[1] - means[0]) / error))


def _chance_of_counts(before: Values, after: Values, middle: float) -> float:
    """Fisher's exact test of how many values are above, and how many below, the common one."""
    from scipy.stats import fisher_exact

    chances = []
    for left, right in ((before > middle, after > middle), (before < middle, after < middle)):
        table = [[part.sum(), len(part) - part.sum()] for part in (left, right)]
        chances.append(float(fisher_exact(np.array(table))[1]))
    return min(1.0, 2 * min(chances))
