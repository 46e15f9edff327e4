"""What the pairs complete at one look say of the cells.

Two joint tests. No change: if the arms are alike, a pair's log-ratios may be flipped. The margin:
if a cell changed by exactly the margin, its log-ratios less the margin may be flipped, so a cell is
within the margin when it is too far below the upper and above the lower one for that.

The interval takes the larger of two criteria. The flips' is exact for "no change". Where many cells
changed alike, though, their flips move together, and it does not make up for the number of cells;
there Student's t does, at the level over that number (Bonferroni).

Knows one matrix of log-ratios; no names, no earlier looks, no verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from decider.perf.verdict.design import Design
from decider.perf.verdict.flips import MOST_FLIPS, Floats, critical_value, unit_columns
from decider.perf.verdict.resolution import (
    as_statistic,
    as_student,
    half_widths,
    student_quantile,
    student_tail,
)

CONSTANT = 1e-12
"""A spread below this share of the largest value is the rounding of a mean."""


@dataclass(frozen=True)
class Look:
    """What one look says; arrays have one element a cell.

    Attributes:
        counts: log-ratios.
        means, spreads: of the log-ratios; the spread divided by their number.
        half_widths: of the simultaneous intervals at the alarm level; inf where unbounded.
        changed: whether the interval excludes 0.
        equivalent: whether the change is shown to be within the margin.
        alarm_tail, equivalence_tail: the one-sided probabilities at which Student's t stands for
            the two criteria.
    """

    counts: npt.NDArray[np.int64]
    means: Floats
    spreads: Floats
    half_widths: Floats
    changed: npt.NDArray[np.bool_]
    equivalent: npt.NDArray[np.bool_]
    alarm_tail: float
    equivalence_tail: float


def take_look(
    values: Floats,
    design: Design,
    *,
    cells: Sequence[int] | None = None,
    most_flips: int = MOST_FLIPS,
) -> Look:
    """Test cells.

    Args:
        values: log-ratios [pairs, cells], NaN where there is none.
        design: levels and margin.
        cells: columns to test, all by default. The criteria are made from all columns.
        most_flips: sign vectors, as `sign_vectors` takes them.
    """
    tested = np.arange(values.shape[1]) if cells is None else np.asarray(cells, dtype=int)
    values = values[~np.isnan(values).all(axis=1)]
    counts, means, spreads = _moments(values[:, tested])
    known = int((~np.isnan(values).all(axis=0)).sum())
    alarm_tail = design.alarm_level_of_a_look / max(1.0, known) / 2
    columns = unit_columns(values)
    flipped = critical_value(columns, design.alarm_level_of_a_look, two_sided=True, most=most_flips)
    numbers = counts.astype(float)
    critical = np.maximum(flipped, as_statistic(student_quantile(alarm_tail, numbers), numbers))
    below = unit_columns(design.log_margin - values)
    above = unit_columns(values + design.log_margin)
    far = critical_value(
        np.hstack([below, above]),
        design.equivalence_level_of_a_look,
        two_sided=False,
        most=most_flips,
    )
    inside = np.minimum(below.sum(axis=0), above.sum(axis=0))[tested]
    return Look(
        counts=counts,
        means=means,
        spreads=spreads,
        half_widths=half_widths(spreads, numbers, critical),
        changed=np.abs(columns.sum(axis=0))[tested] > critical,
        equivalent=inside > far,
        alarm_tail=alarm_tail,
        equivalence_tail=_equivalence_tail(far, len(values), known, design),
    )


def _equivalence_tail(critical: float, pairs: int, cells: int, design: Design) -> float:
    """The tail of Student's t at the criterion, at least the level over the number of tests."""
    level = design.equivalence_level_of_a_look
    least = level / max(1.0, 2.0 * cells)
    if pairs < 2 or critical <= 0:
        return least
    return min(level, max(least, student_tail(as_student(critical, pairs), pairs)))


def _moments(values: Floats) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    present = ~np.isnan(values)
    counts = present.sum(axis=0)
    divisor = np.maximum(counts, 1)
    filled = np.where(present, values, 0.0)
    means = filled.sum(axis=0) / divisor
    distances = np.where(present, values - means, 0.0)
    largest = np.abs(filled).max(axis=0, initial=0.0)
    farthest = np.abs(distances).max(axis=0, initial=0.0)
    constant = farthest <= CONSTANT * largest
    # squares of what is far below 1e-154 are 0: squared on the scale of the farthest
    scaled = distances / np.where(farthest > 0, farthest, 1.0)
    spreads = farthest * np.sqrt((scaled * scaled).sum(axis=0) / divisor)
    return counts, means, np.where(constant, 0.0, spreads)
