"""Results over commits, made up for the tests, and a finder of changes that needs no statistics."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from decider.perf.history.changes import Change
from decider.perf.history.findings import Finding
from decider.perf.history.series import Series
from tests.perf.report.results import benchmark, sampled, write_results

STARTED_MS = 1_700_000_000_000
HOUR_MS = 3_600_000


def commit_hash(number: int) -> str:
    """The hash of the made-up commit `number`."""
    return hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest()


def write_commit(
    folder: Path,
    number: int,
    benchmarks: Mapping[str, tuple[dict[str, Any], dict[str, Any]]],
    **params: str,
) -> Path:
    """One commit's results; a higher number is a later commit."""
    return write_results(
        folder,
        commit=commit_hash(number),
        committed_ms=STARTED_MS + number * HOUR_MS,
        benchmarks=benchmarks,
        **params,
    )


def write_history(folder: Path, count: int = 12, step_at: int = 8, **params: str) -> Path:
    """Commits with forwards of which the second becomes 20% slower at commit `step_at`."""
    for number in range(count):
        slow = 1.2 if number >= step_at else 1.0
        forwards = [sampled(2e-3), sampled(slow * 3e-3), math.nan, None]
        write_commit(
            folder,
            number,
            {
                "forward.Forward.track_seconds": benchmark(
                    {"batch": [1, 2], "length": [64, 128]}, forwards, "seconds"
                ),
                "plans.Plans.track_forwards": benchmark(
                    {"rows": [8]}, [4.0 if number < 5 else 3.0], "forwards"
                ),
            },
            **params,
        )
    return folder


def find_jumps(series: Sequence[Series], _: object = None) -> list[Finding]:
    """A finder: every value that is more than 10% off the one before it."""
    return [
        Finding(one, change, in_force=True, confirmed=True)
        for one in series
        for change in _jumps(one.values)
    ]


def _jumps(values: Sequence[float]) -> list[Change]:
    known = [(place, value) for place, value in enumerate(values) if math.isfinite(value)]
    return [
        Change("step", place, last, before, value, value / before - 1, value > before, place, 0.0)
        for (last, before), (place, value) in pairwise(known)
        if before and abs(value / before - 1) > 0.1
    ]
