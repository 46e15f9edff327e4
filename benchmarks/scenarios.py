"""What the server is asked for: mixes, loads and their rows, the same for every commit.

Change anything here only together with `VERSION`: results before and after are not comparable.
Knows lengths and arrivals; no engine and no batcher.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks import queues

VERSION = f"1-queues{queues.VERSION}"
MIXES = ("short", "decision")


@dataclass(frozen=True)
class LoadKind:
    """How requests of one row arrive.

    Args:
        clients: of a closed loop; 0 for an open one.
        rows: of one short run, as asv does it.
    """

    clients: int
    rows: int


LOADS = {
    "closed 1": LoadKind(1, rows=4),
    "closed 8": LoadKind(8, rows=16),
    "closed 64": LoadKind(64, rows=64),
    "open 70%": LoadKind(0, rows=12),
}
"""In the order in which they run: the open loop's rate is a share of what 64 clients achieved."""

CAPACITY_LOAD = "closed 64"
OPEN_SHARE = 0.7


def row_lengths(mix: str, size: int, longest: int) -> list[int]:
    """Row lengths, in tokens and in arrival order; longer rows are cut to `longest`."""
    return [min(length, longest) for length in queues.queue(mix, size)]


def poisson_arrivals(rate: float, size: int, seed: int = 0) -> list[float]:
    """Arrivals of a Poisson process, in seconds: `rate` rows a second, the mean."""
    raw = np.random.PCG64(seed).jumped().random_raw(size)  # numpy keeps raw output as it is
    drawn = (raw >> np.uint64(11)) * 2.0**-53
    return [float(at) for at in np.cumsum(-np.log1p(-drawn)) / rate]
