"""One figure for many cells: geometric mean, the change of the time that traffic takes, the worst.

Knows changes, times and weights by cell; no verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class WeightedChange:
    """The change of the time that some traffic takes.

    Attributes:
        change: relative; None where no cell of the traffic was measured.
        covered: share of the traffic's weight that falls on measured cells, 0 to 1.
    """

    change: float | None
    covered: float


def geometric_mean_change(changes: Iterable[float | None]) -> float | None:
    """The geometric mean of the cells' ratios, less 1; None without any. None and NaN are left out.

    Raises:
        ValueError: a change is -1 or below: no ratio of two times.
    """
    logarithms = [_log_ratio(change) for change in changes if _is_known(change)]
    return math.expm1(math.fsum(logarithms) / len(logarithms)) if logarithms else None


def weighted_change(
    changes: Mapping[str, float | None],
    base_values: Mapping[str, float | None],
    weights: Mapping[str, float],
) -> WeightedChange:
    """By how much the time changes that the traffic takes in the cells that were measured.

    Args:
        changes: by cell, relative.
        base_values: by cell, the time of one run on base, above 0; any unit.
        weights: by cell, how often the traffic runs it, at least 0. A cell without a change or a
            time is not covered.

    Raises:
        ValueError: a weight is below 0 or not finite, a time not above 0, or a change -1 or below;
            the message names the cell.
    """
    before, after, covered = [], [], []
    for cell, weight in weights.items():
        if not (math.isfinite(weight) and weight >= 0):
            raise ValueError(f"{cell}: a weight must be at least 0, not {weight!r}")
        change, value = changes.get(cell), base_values.get(cell)
        if change is None or value is None or math.isnan(change) or math.isnan(value):
            continue
        if not 0 < value < math.inf:
            raise ValueError(f"{cell}: a time must be above 0, not {value!r}")
        before.append(weight * value)
        after.append(weight * value * math.exp(_log_ratio(change)))
        covered.append(weight)
    total = math.fsum(weights.values())
    base = math.fsum(before)
    return WeightedChange(
        change=math.fsum(after) / base - 1 if base > 0 else None,
        covered=math.fsum(covered) / total if total > 0 else 0.0,
    )


def worst_cell(changes: Mapping[str, float | None]) -> str | None:
    """The cell with the largest change, the first of several; None where none is known."""
    known = [(cell, change) for cell, change in changes.items() if change is not None]
    known = [(cell, change) for cell, change in known if not math.isnan(change)]
    return max(known, key=lambda item: item[1])[0] if known else None


def _is_known(change: float | None) -> bool:
    return change is not None and not math.isnan(change)


def _log_ratio(change: float | None) -> float:
    if change is None or not -1 < change < math.inf:
        raise ValueError(f"a change must be above -1, not {change!r}")
    return math.log1p(change)
