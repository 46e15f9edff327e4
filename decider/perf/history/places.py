"""In which commits a step lies: the most likely one, and a range that holds it.

Knows numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from decider.perf.history.steps import CLIPPED, Values, deviation

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Place:
    """Where the first value after a step is: most likely, and at 95% from `first` to `last`."""

    first: int
    most_likely: int
    last: int


def place_of_step(values: Values, step: int) -> Place:
    """Where a step lies that was found at index `step`, the only one in `values`.

    The levels are taken as known, each place as equally likely beforehand, and the noise as normal
    near the level and with longer tails beyond (Huber's loss). The range is the shortest one that
    holds 95% of what follows.
    """
    left, right = float(np.median(values[:step])), float(np.median(values[step:]))
    levels = np.where(np.arange(len(values)) < step, left, right)
    # Equal values have no deviation; any positive one then finds their only place.
    spread = deviation(values - levels, 0.0) or abs(right - left) * 1e-6 or 1.0
    gain = _loss((values - right) / spread) - _loss((values - left) / spread)
    # Of the first value after the step at k: the values before k are left's, the others right's.
    advantage = np.cumsum(gain)[:-1]  # at index k - 1, for k from 1
    weights = np.exp(advantage - advantage.max())
    return _shortest(weights / weights.sum())


def _loss(residuals: Values) -> Values:
    size = np.abs(residuals)
    near = np.minimum(size, CLIPPED)
    loss: Values = near**2 / 2 + CLIPPED * (size - near)
    return loss


def _shortest(weights: Values) -> Place:
    """The shortest range of places about the likeliest that holds enough of the weight."""
    best = int(weights.argmax())
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    firsts = np.arange(best + 1)
    needed = np.minimum(sums[:-1][firsts] + CONFIDENCE, sums[-1])
    lasts = np.maximum(np.searchsorted(sums[1:], needed - 1e-12), best)
    # From a place too far right there is no range with so much; the first one always has it.
    held = sums[lasts + 1] - sums[firsts] >= CONFIDENCE - 1e-9
    chosen = int(np.where(held, lasts - firsts, len(weights)).argmin())
    return Place(chosen + 1, best + 1, int(lasts[chosen]) + 1)
