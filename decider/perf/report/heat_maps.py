"""A heat map that is a table: each cell holds its value, and its shade repeats it.

Nothing is told by the shade alone, the keyboard reaches every cell, and it prints. Shades are steps
of the logarithm, since a grid's times span orders of magnitude.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from decider.perf.report.quantities import counted, quantity
from decider.perf.report.result_file import Cell, Status

DARK_TEXT, LIGHT_TEXT = "#10151c", "#ffffff"
SHADES = (
    *(("#eef5fc", DARK_TEXT), ("#d9e8f6", DARK_TEXT), ("#bfd8ee", DARK_TEXT)),
    *(("#9fc4e4", DARK_TEXT), ("#7dafd8", DARK_TEXT), ("#5b97c8", DARK_TEXT)),
    *(("#2f6fa8", LIGHT_TEXT), ("#1b5488", LIGHT_TEXT), ("#0c3a66", LIGHT_TEXT)),
)
"""Background and text of each step, lowest value first: the same by day and by night."""

MOST_DETAILED = 500
"""Cells of a map that tells of each what the table of all cells has, too: a page of thousands has
to stay under 3 MB."""

LONGEST_NUMBER = 18
"""Digits of a label that is ordered as a number; Python refuses to read very long ones."""


class Entry(NamedTuple):
    """A value to show: its row and column, and what there is to say of it besides."""

    row: str
    column: str
    status: Status
    value: float
    unit: str
    detail: str = ""


@dataclass(frozen=True)
class Square:
    """One cell of the table.

    Attributes:
        text: what it shows.
        said: what hover and keyboard tell behind row and column, where that is more than `text`.
        kind: its class in the style sheet.
        shade: its step, if any.
    """

    text: str
    said: str
    kind: str
    shade: int | None = None


@dataclass(frozen=True)
class HeatMap:
    """A titled table of squares, row by row; `legend` says what the shades span."""

    title: str
    row_name: str
    column_name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Square, ...]], ...]
    legend: str
    note: str = ""


def heat_map(
    title: str, row_name: str, column_name: str, entries: Sequence[Entry], note: str = ""
) -> HeatMap:
    """The heat map of `entries`; rows and columns rise where they are numbers, and otherwise stand
    in the order they come in."""
    shade = _shades(entry.value for entry in entries if entry.status == "measured")
    squares = {(entry.row, entry.column): _square(entry, shade) for entry in entries}
    return table_of_squares(title, row_name, column_name, squares, _legend(entries), note)


def table_of_squares(
    title: str,
    row_name: str,
    column_name: str,
    squares: Mapping[tuple[str, str], Square],
    legend: str,
    note: str = "",
) -> HeatMap:
    """The map of `squares` by row and column, ordered as `heat_map` orders; holes are blank."""
    rows = _ordered(row for row, _ in squares)
    columns = _ordered(column for _, column in squares)
    absent = Square("", "", "absent")
    table = tuple(
        (row, tuple(squares.get((row, column), absent) for column in columns)) for row in rows
    )
    return HeatMap(title, row_name, column_name, tuple(columns), table, legend, note)


def details(cell: Cell) -> str:
    """What is known of a cell besides its value: interval and number of samples."""
    parts = []
    if cell.interval:
        low, high = (quantity(bound, cell.unit) for bound in cell.interval)
        parts.append(f"99% interval within this run {low} to {high}")
    if cell.samples:
        parts.append(counted(len(cell.samples), "sample"))
    return ", ".join(parts)


def _ordered(labels: Iterable[str]) -> list[str]:
    different = list(dict.fromkeys(labels))
    if all(label.isdecimal() and len(label) <= LONGEST_NUMBER for label in different):
        return sorted(different, key=int)
    return different


def _shades(values: Iterable[float]) -> Callable[[float], int | None]:
    """A value's step between the lowest and the highest; None for one without a logarithm."""
    drawn = [math.log(value) for value in values if 0 < value < math.inf]
    if not drawn:
        return lambda _: None
    low, high = min(drawn), max(drawn)

    def shade(value: float) -> int | None:
        if not 0 < value < math.inf:
            return None
        share = (math.log(value) - low) / (high - low) if high > low else 0.0
        return min(int(share * len(SHADES)), len(SHADES) - 1)

    return shade


def _square(entry: Entry, shade: Callable[[float], int | None]) -> Square:
    if entry.status == "skipped":
        return Square("", entry.detail or "skipped", "skipped")
    if entry.status == "failed":
        return Square("failed", entry.detail, "failed")
    if entry.status == "absent":
        return Square("missing", "captured, but not measured", "failed")
    text = quantity(entry.value, entry.unit)
    said = f"{text} ({entry.detail})" if entry.detail else ""
    return Square(text, said, "measured", shade(entry.value))


def _legend(entries: Sequence[Entry]) -> str:
    drawn = [e for e in entries if e.status == "measured" and 0 < e.value < math.inf]
    if not drawn:
        return ""
    low = min(drawn, key=lambda entry: entry.value)
    high = max(drawn, key=lambda entry: entry.value)
    return f"{quantity(low.value, low.unit)} (light) to {quantity(high.value, high.unit)} (dark)"
