"""What a trace file looks like, and how one of its lines is read.

From an open text to (line number, time, tokens), one row at a time. It knows nothing of order,
windows or queues: that is `decider.traces`.
"""

from __future__ import annotations

import csv
import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple, TextIO

TIMES: Mapping[str, float] = MappingProxyType(
    {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9, "date": 1e6}
)
"""How an arrival may be written, with its steps a second. `date` is ISO 8601, in UTC if unsaid."""

CONTAINERS = ("csv", "jsonl")

LONGEST_LINE = 1 << 24  # characters: a file without line ends must not fill the memory
MOST_TOKENS = 2**31 - 1
MOST_SECONDS = 1e12  # some thirty thousand years: beyond it a time has the wrong unit

_WHOLE = re.compile(r"\s*([0-9]{1,20})(\.0*)?\s*", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Columns:
    """Where a trace has what is read.

    Args:
        arrival: name of the column (JSONL: the key) of arrival times.
        tokens: name of the column of input tokens.
        time: how arrivals are written, one of `TIMES`.

    Raises:
        ValueError: `time` is not in `TIMES`.
    """

    arrival: str
    tokens: str
    time: str = "seconds"

    def __post_init__(self) -> None:
        if self.time not in TIMES:
            raise ValueError(f"time {self.time!r} is not one of {', '.join(TIMES)}")


@dataclass(frozen=True)
class Format:
    """A published trace format.

    It is recognised by its column names: all the `required` ones, and besides them none but
    `optional` ones, because a cousin may use the same names for other units.
    """

    container: str
    columns: Columns
    required: frozenset[str]
    optional: frozenset[str]
    description: str

    def matches(self, container: str, names: Iterable[str]) -> bool:
        """Whether a file with these column names is surely of this format."""
        names = set(names)
        known = self.required | self.optional
        return container == self.container and self.required <= names <= known


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "azure": Format(
            "csv",
            Columns("TIMESTAMP", "ContextTokens", "date"),
            frozenset({"TIMESTAMP", "ContextTokens", "GeneratedTokens"}),
            frozenset(),
            "Azure LLM inference traces (CSV, arrivals are dates)",
        ),
        "burstgpt": Format(
            "csv",
            Columns("Timestamp", "Request tokens", "seconds"),
            frozenset({"Timestamp", "Model", "Request tokens", "Response tokens"}),
            frozenset({"Session ID", "Elapsed time", "Total tokens", "Log Type"}),
            "BurstGPT (CSV, arrivals in seconds; with or without session columns)",
        ),
        "mooncake": Format(
            "jsonl",
            Columns("timestamp", "input_length", "milliseconds"),
            frozenset({"timestamp", "input_length", "output_length", "hash_ids"}),
            frozenset(),
            "Mooncake (JSONL, arrivals in milliseconds)",
        ),
    }
)
"""The formats known by name."""

FORMAT_NAMES = ("auto", *FORMATS, *CONTAINERS)


class RawRow(NamedTuple):
    """One row as the file has it: `time` in steps of its format, `line` counted from 1."""

    time: float
    line: int
    tokens: int


class Lines:
    """The lines of an open text, one at a time, with the number of the one last given.

    Raises:
        ValueError: while it is read: a line is longer than `LONGEST_LINE`, or the file cannot be
            read on. The message names the file and the line.
    """

    def __init__(self, file: TextIO, name: str) -> None:
        self.number = 0
        self._file = file
        self._name = name
        self._kept = ""

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self._name}:{self.number}"

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line, self._kept = self._kept or self._read(), ""
        if not line:
            raise StopIteration
        return line

    def peek(self) -> str:
        """The next line that is not blank, without passing it; empty at the end."""
        line = next(self, "").removeprefix("\ufeff")
        while line and not line.strip():
            line = next(self, "")
        self._kept = line
        return self._kept

    def _read(self) -> str:
        self.number += 1
        try:
            line = self._file.readline(LONGEST_LINE + 1)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise ValueError(f"{self.place}: cannot be read: {error}") from None
        if not isinstance(line, str):
            raise ValueError(f"{self.place}: the file is open for bytes; open it as text")
        if len(line) > LONGEST_LINE:
            raise ValueError(f"{self.place}: a line of more than {LONGEST_LINE:,} characters")
        return line


def read_rows(
    lines: Lines, format_name: str, columns: Columns | None
) -> tuple[float, Iterator[RawRow]]:
    """Steps of time a second, and the rows in the order of the file.

    The first line is read at once, the others as they are asked for.

    Args:
        lines: the file, at its beginning.
        format_name: one of `FORMAT_NAMES`.
        columns: where times and tokens are; None leaves it to the format.

    Raises:
        ValueError: the format is not recognised, a column is missing or stands twice, or a row is
            malformed. The message names the file, the line and the value.
    """
    first = lines.peek()
    if not first:
        raise ValueError(f"{lines.place}: the file is empty")
    container = "jsonl" if first.lstrip().startswith("{") else "csv"
    if format_name in FORMATS:
        container = FORMATS[format_name].container
    elif format_name in CONTAINERS:
        container = format_name
    names, records = _jsonl(lines) if container == "jsonl" else _csv(lines)
    if columns is None:
        known = FORMATS.get(format_name) or _recognised(lines.place, container, names)
        columns = known.columns
    for column in (columns.arrival, columns.tokens):
        if names.count(column) != 1:
            fault = "stands twice" if column in names else "is missing"
            raise ValueError(f"{lines.place}: column {column!r} {fault}; found {_shown(names)}")
    return TIMES[columns.time], _rows(lines, records, columns)


def _recognised(place: str, container: str, names: list[str]) -> Format:
    matching = [known for known in FORMATS.values() if known.matches(container, names)]
    if len(matching) == 1:
        return matching[0]
    raise ValueError(
        f"{place}: the columns {_shown(names)} are not surely those of one known format; choose "
        f"the format ({', '.join(FORMATS)}) or name the columns of times and tokens"
    )


def _rows(lines: Lines, records: Iterator[Mapping[str, Any]], columns: Columns) -> Iterator[RawRow]:
    for record in records:
        try:
            time = _time(_value(record, columns.arrival), columns.time)
            tokens = _tokens(_value(record, columns.tokens))
        except ValueError as error:
            raise ValueError(f"{lines.place}: {error}") from None
        yield RawRow(time, lines.number, tokens)


def _csv(lines: Lines) -> tuple[list[str], Iterator[dict[str, str]]]:
    def rows() -> Iterator[list[str]]:
        try:
            yield from (row for row in csv.reader(lines, strict=True) if "".join(row).strip())
        except csv.Error as error:
            raise ValueError(f"{lines.place}: not CSV: {error}") from None

    def records() -> Iterator[dict[str, str]]:
        for row in given:
            if len(row) != len(names):
                text = _shown(",".join(row))
                raise ValueError(
                    f"{lines.place}: {len(row)} fields under {len(names)} column names: {text}"
                )
            yield dict(zip(names, row, strict=True))

    given = rows()
    names = [name.strip() for name in next(given, [])]
    return names, records()


def _jsonl(lines: Lines) -> tuple[list[str], Iterator[dict[str, Any]]]:
    def records() -> Iterator[dict[str, Any]]:
        for line in lines:
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{lines.place}: not JSON: {error}: {_shown(line)}") from None
            if not isinstance(record, dict):
                raise ValueError(f"{lines.place}: not a JSON object: {_shown(line)}")
            yield record

    rows = records()
    first = next(rows)
    return list(first), chain([first], rows)


def _value(record: Mapping[str, Any], column: str) -> Any:
    value = record.get(column)
    if value is None or value == "":
        raise ValueError(f"{column!r} has no value")
    return value


def _time(value: Any, kind: str) -> float:
    """`value` in steps of its kind of time; whole microseconds for a date."""
    try:
        if kind == "date":
            date = datetime.fromisoformat(value.strip())
            date = date if date.tzinfo else date.replace(tzinfo=UTC)
            return (date - _EPOCH) // timedelta(microseconds=1)
        number = math.nan if isinstance(value, bool) or "_" in str(value) else float(value)
    except (AttributeError, OverflowError, TypeError, ValueError):
        number = math.nan
    if not abs(number) <= MOST_SECONDS * TIMES[kind]:
        wanted = "an ISO 8601 date" if kind == "date" else f"a plausible number of {kind}"
        raise ValueError(
            f"time {_shown(value)} is not {wanted}; times may be written as {', '.join(TIMES)}"
        )
    return number


def _tokens(value: Any) -> int:
    whole: int | None = None
    if isinstance(value, str) and (match := _WHOLE.fullmatch(value)):
        whole = int(match[1])
    elif (isinstance(value, float) and value.is_integer()) or type(value) is int:
        whole = int(value)
    if whole is None or not 0 <= whole <= MOST_TOKENS:
        raise ValueError(f"{_shown(value)} is not a whole number of tokens, 0 to {MOST_TOKENS:,}")
    return whole


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."
