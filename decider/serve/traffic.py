"""What a load sends and when: requests with their scheduled arrivals, and rows without end.

A row is named by its length and a variant: the same name is the same row, so that its answers can
be compared. This module knows no clocks, no servers and no answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from decider.traces import read_trace
from decider.workloads import Mix, arrival_times, row_lengths

DEFAULT_DISTINCT = 256


class RowName(NamedTuple):
    """Which row: its tokens, a count, and which of the rows of that length."""

    tokens: int
    variant: int


class Arrival(NamedTuple):
    """One request: when it is to be sent, in seconds from the start, and its rows."""

    at: float
    rows: tuple[RowName, ...]


def mixed_rows(
    mix: str | Mix, *, distinct: int = DEFAULT_DISTINCT, seed: int = 0, longest: int | None = None
) -> Iterator[RowName]:
    """Rows of a mix without end: the same `distinct` rows again and again, each time reshuffled.

    So every row is answered many times, and each pass over them is the same work.

    Raises:
        ValueError: at the call, what `row_lengths` refuses, or `distinct` below 1.
    """
    if distinct < 1:
        raise ValueError(f"distinct rows must be at least 1, not {distinct!r}")
    lengths = row_lengths(mix, distinct, seed, longest=longest).tolist()
    names = [RowName(tokens, variant) for variant, tokens in enumerate(lengths)]
    return _reshuffled(names, np.random.default_rng((seed, distinct)))


def _reshuffled(names: list[RowName], generator: np.random.Generator) -> Iterator[RowName]:
    while True:
        for index in generator.permutation(len(names)).tolist():
            yield names[index]


def timed_arrivals(
    rows: Iterator[RowName],
    *,
    rate: float,
    seconds: float,
    rows_per_request: int = 1,
    variation: float = 1.0,
    seed: int = 0,
) -> Iterator[Arrival]:
    """Requests whose arrivals do not depend on the answers.

    Args:
        rows: taken in turn.
        rate: requests a second, the mean.
        seconds: arrivals stop there.
        variation: coefficient of variation of the gaps: 1 is Poisson, more is bursty; see
            `decider.workloads.arrival_times`.

    Raises:
        ValueError: at the call, a rate, variation or seed that `arrival_times` refuses, or too many
            requests to schedule.
    """
    checked_seconds("seconds", seconds)
    arrivals = _arrivals_until(seconds, rate, seed, variation)
    return (Arrival(at, tuple(islice(rows, rows_per_request))) for at in arrivals)


def _arrivals_until(seconds: float, rate: float, seed: int, variation: float) -> list[float]:
    arrival_times(rate, 0, seed, variation=variation)  # refuses what is bad before it is used
    expected = rate * seconds
    if expected > 1e7:
        raise ValueError(f"{rate:g} requests a second for {seconds:g} s are over ten million")
    size = math.ceil(expected) + 16
    while True:
        arrivals = arrival_times(rate, size, seed, variation=variation)
        if arrivals[-1] >= seconds:
            kept: list[float] = arrivals[: int(np.searchsorted(arrivals, seconds))].tolist()
            return kept
        size *= 2  # a longer stream of the same seed begins with the shorter one


def trace_arrivals(
    path: Path | str,
    *,
    seconds: float,
    speed: float = 1.0,
    trace_format: str = "auto",
    start: float = 0.0,
    longest: int | None = None,
    say: Callable[[str], None] | None = None,
) -> Iterator[Arrival]:
    """The requests of a trace, one row each, in compressed time.

    Args:
        seconds: of the load: `seconds * speed` of the trace's own time are read.
        speed: how many times as fast the trace passes.
        start: seconds of the trace's own time to pass over.
        longest: longer rows are cut to it.
        say: see `decider.traces.read_trace`.

    Raises:
        ValueError: at the call or while reading, as `read_trace` raises it.
    """
    checked_seconds("seconds", seconds)
    options: dict[str, Any] = {} if say is None else {"say": say}
    rows = read_trace(
        path, trace_format, start=start, seconds=seconds * speed, speed=speed, **options
    )
    cap = math.inf if longest is None else longest
    return (Arrival(row.arrival, (RowName(int(min(row.tokens, cap)), 0),)) for row in rows)


def checked_seconds(name: str, value: float) -> float:
    """`value` itself.

    Raises:
        ValueError: it is not a finite number above 0.
    """
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be a finite number above 0, not {value!r}")
    return value
