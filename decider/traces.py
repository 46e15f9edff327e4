"""Rows with arrival times, read from the traces of real services.

`read_trace` streams a file of any size in order of arrival; `windows` cuts what it gives into
queues. This module knows no mixes, no grids and no plans; what the files look like is
`decider.trace_formats`.
"""

from __future__ import annotations

import gzip
import heapq
import io
import logging
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TextIO

from decider.trace_formats import (
    CONTAINERS,
    FORMAT_NAMES,
    FORMATS,
    Columns,
    Lines,
    RawRow,
    read_rows,
)

DEFAULT_REORDER = 65_536
SLOWEST, FASTEST = 1e-6, 1e9

_LOG = logging.getLogger(__name__)


class TraceRow(NamedTuple):
    """One request: arrival in seconds since the beginning of what is read, and input tokens."""

    arrival: float
    tokens: int


class Window(NamedTuple):
    """What arrived in one window: its start in seconds, and row lengths in arrival order."""

    start: float
    lengths: list[int]


def read_trace(
    source: Path | str | TextIO,
    format: str = "auto",  # noqa: A002
    columns: Columns | None = None,
    *,
    start: float = 0.0,
    seconds: float | None = None,
    speed: float = 1.0,
    reorder: int | None = DEFAULT_REORDER,
    say: Callable[[str], None] = _LOG.warning,
) -> Iterator[TraceRow]:
    """The rows of a trace in order of arrival, from a file of any size in little memory.

    The file is opened when the first row is asked for. A request of zero tokens has nothing to
    score (BurstGPT has some): it is left out and counted.

    A sorted stream cannot give a row before it knows that no earlier one follows. So `reorder` rows
    are held back, and a row is put in its place where at most so many later ones stand before it in
    the file; requests of one time keep the order of the file. A row with more of them before it is
    an error, never a row out of place: `reorder=None` holds the whole trace in memory instead.
    Where `seconds` ends the reading early, the rest of the file is not searched for such rows.

    Args:
        source: a path (gzip is recognised), or an open text file, which is left open.
        format: a name in `FORMATS`; `csv` or `jsonl` with `columns`; or `auto`, which goes by the
            column names and, where `columns` is given, by the first character of the file.
        columns: where times and tokens are, in a file of no known format.
        start: seconds of the trace's own time to pass over, from the first row that has tokens.
        seconds: how many seconds of the trace's own time to read from there; None for all.
        speed: how many times as fast the trace passes: arrivals are divided by it.
        reorder: how many rows are held back to sort them.
        say: given a sentence, when the reading ends, on each kind of rows that were left out or put
            in order, with their number. By default the log.

    Raises:
        ValueError: at the call, an argument is refused; while reading, the file cannot be read, its
            format is not recognised, it lacks a column, or a row is malformed or too far out of
            order. The message names the file, the line and the value.
    """
    _check_arguments(format, columns, reorder)
    cut = _Cut(start, math.inf if seconds is None else seconds, speed)
    return _read(source, format, columns, cut, reorder, say)


def windows(rows: Iterable[TraceRow], milliseconds: float) -> Iterator[Window]:
    """Cut rows into the queues that wait after each window of `milliseconds`.

    Windows lie end to end from time 0; empty ones are left out.

    Raises:
        ValueError: at the call, `milliseconds` is not a finite number of at least 0.001; while
            reading, the rows are not in order of arrival.
    """
    if not 0.001 <= milliseconds < math.inf:
        raise ValueError(f"a window must be at least 0.001 ms and finite, not {milliseconds!r}")
    return _windows(rows, milliseconds)


def _windows(rows: Iterable[TraceRow], milliseconds: float) -> Iterator[Window]:
    index = 0
    before = 0.0
    lengths: list[int] = []
    for arrival, tokens in rows:
        if arrival < before:
            raise ValueError(f"a row that arrives at {arrival!r} s comes after {before!r} s")
        before = arrival
        at = int(arrival * 1000 // milliseconds)
        if at > index and lengths:
            yield Window(index * milliseconds / 1000, lengths)
            lengths = []
        index = at
        lengths.append(tokens)
    if lengths:
        yield Window(index * milliseconds / 1000, lengths)


@dataclass(frozen=True)
class _Cut:
    """The part of a trace that is read, in seconds of its own time, and how fast it passes."""

    start: float
    seconds: float
    speed: float

    def __post_init__(self) -> None:
        if not 0 <= self.start < math.inf:
            raise ValueError(f"start must be a finite number of at least 0, not {self.start!r}")
        if not self.seconds > 0:
            raise ValueError(f"seconds must be a number above 0, not {self.seconds!r}")
        if not SLOWEST <= self.speed <= FASTEST:
            raise ValueError(f"speed must be from {SLOWEST:g} to {FASTEST:g}, not {self.speed!r}")

    def rows(self, rows: Iterator[RawRow], steps: float) -> Iterator[TraceRow]:
        first: float | None = None
        for time, _, tokens in rows:
            first = time if first is None else first
            arrival = (time - first) / steps - self.start
            if arrival >= self.seconds:
                return
            if arrival >= 0:
                yield TraceRow(arrival / self.speed, tokens)


@dataclass
class _Order:
    """Holds rows back until they can be given in order of time, and counts what it met."""

    name: str
    held: int | None
    empty: int = 0
    late: int = 0

    def rows(self, rows: Iterator[RawRow]) -> Iterator[RawRow]:
        waiting: list[RawRow] = []
        latest = given = -math.inf
        for row in rows:
            if row.tokens == 0:
                self.empty += 1
                continue
            if row.time < given:
                raise ValueError(
                    f"{self.name}:{row.line}: more than {self.held:,} rows that arrived later "
                    "stand before this one; hold more rows back (reorder=), or all (reorder=None)"
                )
            self.late += row.time < latest
            latest = max(latest, row.time)
            if self.held is None or len(waiting) < self.held:
                heapq.heappush(waiting, row)
            else:
                row = heapq.heappushpop(waiting, row)
                given = row.time
                yield row
        while waiting:
            yield heapq.heappop(waiting)

    def report(self, say: Callable[[str], None]) -> None:
        if self.empty:
            say(f"{self.name}: left out {self.empty:,} requests of zero tokens")
        if self.late:
            say(f"{self.name}: put {self.late:,} rows in order that stood after a later one")


def _read(
    source: Path | str | TextIO,
    format_name: str,
    columns: Columns | None,
    cut: _Cut,
    held: int | None,
    say: Callable[[str], None],
) -> Iterator[TraceRow]:
    with _opened(source) as (file, name):
        order = _Order(name, held)
        steps, rows = read_rows(Lines(file, name), format_name, columns)
        try:
            yield from cut.rows(order.rows(rows), steps)
        finally:  # whoever stops early is told too
            order.report(say)


@contextmanager
def _opened(source: Path | str | TextIO) -> Iterator[tuple[TextIO, str]]:
    if not isinstance(source, (str, Path)):
        yield source, str(getattr(source, "name", "<trace>"))
        return
    try:
        binary = io.BufferedReader(io.FileIO(source))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{source}: cannot be read: {reason}") from None
    with binary:
        packed = binary.peek(2)[:2] == b"\x1f\x8b"
        plain = gzip.GzipFile(fileobj=binary) if packed else binary
        # A stray byte in a column that is read is a bad value; in any other it is no matter.
        with io.TextIOWrapper(plain, encoding="utf-8", errors="replace", newline="") as file:
            yield file, str(source)


def _check_arguments(format_name: str, columns: Columns | None, reorder: int | None) -> None:
    if format_name not in FORMAT_NAMES:
        raise ValueError(f"no trace format {format_name!r}; there are {', '.join(FORMAT_NAMES)}")
    if format_name in FORMATS and columns is not None:
        raise ValueError(
            f"format {format_name!r} has its own columns; to name others, choose "
            f"{' or '.join(CONTAINERS)}"
        )
    if format_name in CONTAINERS and columns is None:
        raise ValueError(f"format {format_name!r} needs the columns of times and tokens")
    if reorder is not None and (type(reorder) is not int or reorder < 0):
        raise ValueError(f"reorder must be a whole number of at least 0 or None, not {reorder!r}")
