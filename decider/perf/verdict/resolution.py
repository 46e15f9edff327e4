"""How finely so many pairs can tell: half-widths, the smallest visible change, the pairs needed.

R is sum(d)/sqrt(sum(d*d)) over a cell's n log-ratios d, and t Student's; each is a function of the
other. Knows single cells' numbers and levels; no flips, no verdicts.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]

MOST_PAIRS = 1_000
"""Further than this no prediction goes."""
LARGEST = 700.0
"""e to a larger power is no floating-point number."""
POWER = 0.9
"""How often the smallest visible change is found."""


def student_quantile(tail: float, count: npt.ArrayLike) -> Floats:
    """Student's t that `count` values exceed with probability `tail` (one-sided); inf for one."""
    freedom = np.asarray(count, dtype=float) - 1
    with np.errstate(invalid="ignore"):
        quantile = -special.stdtrit(np.maximum(freedom, 1), tail)
    found: Floats = np.where(freedom < 1, np.inf, quantile)
    return found


def student_tail(student: float, count: int) -> float:
    """Probability that Student's t of `count` values, two at least, exceeds `student`."""
    return float(special.stdtr(count - 1, -student))


def as_statistic(student: Floats, count: Floats) -> Floats:
    """R of a cell of `count` values whose t is `student`: sqrt(count) for an infinite one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.sqrt(count) / np.sqrt(1 + (count - 1) / student**2)
    found: Floats = np.where(student == 0, 0.0, scaled)
    return found


def as_student(statistic: float, count: float) -> float:
    """t of a cell of `count` values whose R is `statistic`; infinite from sqrt(count) on."""
    if statistic**2 >= count:
        return math.inf
    return statistic * math.sqrt((count - 1) / (count - statistic**2))


def half_widths(spreads: Floats, counts: Floats, critical: Floats) -> Floats:
    """Half the interval of the values that a mean is not told apart from.

    R of the values less x is at most c exactly when |mean - x| <= spread * c / sqrt(n - c*c).

    Args:
        spreads: root mean square distance from the mean (divided by n, not by n - 1).
        counts: n, values of each cell.
        critical: c of each cell.

    Returns:
        An array alike; infinite where c is sqrt(n) or more: no value can be told apart.
    """
    room = counts - critical**2
    bounded = room > 0
    factor = np.where(bounded, critical, 0.0) / np.sqrt(np.where(bounded, room, 1.0))
    found: Floats = np.where(bounded, spreads * factor, np.inf)
    return found


def relative_change(log_ratio: float) -> float | None:
    """A log-ratio as a ratio less 1; None where it is infinite or too large to be one."""
    return math.expm1(log_ratio) if -math.inf < log_ratio < LARGEST else None


def smallest_visible(half_width: float, spread: float, count: int) -> float | None:
    """The relative slow-down that as many pairs of this spread would have called in 90% of runs.

    The mean must exceed the half-width, and is nearly normal about the true change: 1.28 standard
    errors above the half-width it does so nine times in ten.
    """
    if count < 2 or not math.isfinite(half_width):
        return None
    error = spread / math.sqrt(count - 1)
    return relative_change(half_width + float(special.ndtri(POWER)) * error)


def pairs_needed(
    mean: float,
    spread: float,
    count: int,
    *,
    margin: float,
    alarm_tail: float,
    equivalence_tail: float,
    fewest: int,
) -> int | None:
    """Log-ratios in all with which a cell would have a verdict, if mean and spread stay.

    Args:
        mean, spread: of the cell's log-ratios, the spread divided by their number.
        count: how many they are.
        margin: of equivalence, a difference of logarithms.
        alarm_tail: one-sided probability at which Student's t stands for the alarm's criterion.
        equivalence_tail: the same for equivalence.
        fewest: with fewer nothing can be told.

    Returns:
        More than `count`, or None above 1,000 or where fewer than two values say how they spread.
    """
    if count < 2:
        return None
    numbers = np.arange(MOST_PAIRS + 1)
    errors = spread * math.sqrt(count / (count - 1)) / np.sqrt(np.maximum(numbers, 1))
    tells_zero = abs(mean) > errors * _quantiles(alarm_tail)
    tells_margin = abs(mean) + errors * _quantiles(equivalence_tail) < margin
    decides = (tells_zero | tells_margin) & (numbers > max(count, fewest - 1, 1))
    return int(np.argmax(decides)) if decides.any() else None


@lru_cache(maxsize=64)
def _quantiles(tail: float) -> Floats:
    quantiles = student_quantile(tail, np.maximum(np.arange(MOST_PAIRS + 1), 2))
    quantiles.flags.writeable = False
    return quantiles
