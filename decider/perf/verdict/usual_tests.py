"""Two usual ways to compare two commits, for what they would have called.

No part of any verdict: the simulation shows their false alarms beside ours.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from decider.perf.verdict.noise import Floats, Runs

COMPARED_PAIRS = 20
LEVEL = 0.01


def usual_tests_alarm(runs: Runs) -> tuple[int, int]:
    """Suites in which two usual ways alarm at 1% in any cell, after 20 pairs.

    Returns:
        With a paired t test of each cell; with a Mann-Whitney test of each cell that pools the
        slots of all processes as if they were independent.
    """
    ratios = runs.log_ratios[:, :COMPARED_PAIRS]
    t = ratios.mean(axis=1) / ratios.std(axis=1, ddof=1) * math.sqrt(COMPARED_PAIRS)
    by_t = 2 * special.stdtr(COMPARED_PAIRS - 1, -np.abs(t)) < LEVEL
    by_ranks = mann_whitney(runs) < LEVEL
    return int(by_t.any(axis=1).sum()), int(by_ranks.any(axis=1).sum())


def mann_whitney(runs: Runs) -> Floats:
    """p of each suite and cell, by the normal approximation; the slots' times have no ties."""
    base, head = (
        side[:, :COMPARED_PAIRS].transpose(0, 2, 1, 3).reshape(len(side), side.shape[2], -1)
        for side in (runs.base, runs.head)
    )
    count = base.shape[-1]
    ranks = np.concatenate([base, head], axis=-1).argsort(axis=-1).argsort(axis=-1) + 1
    u = ranks[..., count:].sum(axis=-1) - count * (count + 1) / 2
    z = (u - count**2 / 2) / math.sqrt(count**2 * (2 * count + 1) / 12)
    p: Floats = 2 * special.ndtr(-np.abs(z))
    return p
