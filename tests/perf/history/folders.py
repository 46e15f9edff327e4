"""Results folders of many commits, made up for the tests."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.perf.report.results import benchmark, write_results

FIRST_MS = 1_760_000_000_000
HOUR_MS = 3_600_000
TIMES = "forward.Forward.track_seconds"
EXACT = "plans.Plans.track_cost"


def commit_hash(number: int) -> str:
    """The hash of a made-up commit."""
    return hashlib.sha1(b"%d" % number, usedforsecurity=False).hexdigest()


def noise(number: int) -> float:
    """Noise of one hundredth, the same at every run: the fractional parts of golden multiples."""
    return 0.02 * (math.modf(number * 0.6180339887498949)[0] - 0.5)


def write_series(
    folder: Path,
    values: Sequence[float | None],
    *,
    name: str = TIMES,
    unit: str = "seconds",
    first: int = 0,
    version: str = "1",
    every_ms: int = HOUR_MS,
    environment: str = "checkout",
    extra: Mapping[str, float] | None = None,
    **params: str,
) -> None:
    """Write a file a commit: one benchmark with a cell `batch 8`, and exact ones without cells."""
    for number, value in enumerate(values, first):
        content = {name: benchmark({"batch": [8]}, [value], unit, version=version)}
        for other, figure in (extra or {}).items():
            content[other] = benchmark({}, [figure], "ratio")
        path = write_results(
            folder,
            commit=commit_hash(number),
            committed_ms=FIRST_MS + number * every_ms,
            benchmarks=content,
            **params,
        )
        path.rename(path.with_name(f"{commit_hash(number)[:8]}-{environment}.json"))


def noisy(count: int, level: float = 0.1, first: int = 0) -> list[float]:
    """Values about `level`."""
    return [level * (1 + noise(number)) for number in range(first, first + count)]
