"""The steps and drifts of one series, told from slow noise. Knows numbers only."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from decider.perf.history.drifts import Drift, split_drifts
from decider.perf.history.steps import (
    CLIPPED,
    Step,
    Values,
    deviation,
    find_steps,
    median,
    propose_steps,
)

CORRELATED = 2.0
"""Standard errors from which on the noise of neighbours counts as correlated."""

MOST_ROUNDS = 5
"""Of finding out how correlated it is."""


def detect(values: Values) -> list[Step | Drift]:
    """What changed, in order.

    Slow noise, as of a machine's busy hours, looks like steps. What is left of it beside the
    changes found says how slow it is, and the steps are tested again with that; the fewer remain,
    the more of it is left.

    Args:
        values: finite, in commit order; logarithms, where changes are relative.
    """
    proposed = propose_steps(values)
    correlation = 0.0
    found = split_drifts(values, find_steps(values, proposed))
    for _ in range(MOST_ROUNDS):
        if not found:
            break
        left = correlation_of(values - levels_of(found, values))
        if left <= max(correlation, CORRELATED / math.sqrt(len(values))):
            break
        correlation = left
        found = split_drifts(values, find_steps(values, proposed, correlation))
    return found


def levels_of(found: Sequence[Step | Drift], values: Values) -> Values:
    """The level at each value: the median of a stretch, and the straight line of a drift."""
    begins = [0, *(one.index if isinstance(one, Step) else one.end for one in found)]
    ends = [*(one.index if isinstance(one, Step) else one.start + 1 for one in found), len(values)]
    levels = np.empty_like(values)
    for begin, end in zip(begins, ends, strict=True):
        levels[begin:end] = median(values[begin:end])
    for one in found:
        if isinstance(one, Drift):
            places = slice(one.start, one.end + 1)
            levels[places] = np.linspace(one.before, one.after, one.end - one.start + 1)
    return levels


def correlation_of(noise: Values) -> float:
    """Correlation of each value of noise with the next, spikes clipped; 0 where there is none."""
    reach = CLIPPED * deviation(noise, 0.0)
    clipped = np.clip(noise, -reach, reach) if reach else noise
    squares = float((clipped**2).sum())
    return float((clipped[1:] * clipped[:-1]).sum()) / squares if squares else 0.0
