"""A heat map that is a table: each cell holds its value, and its shade repeats it.

Nothing is told by the shade alone, the keyboard reaches every cell, and it prints. Shades are steps
of the logarithm, since a grid's times span orders of magnitude.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from decider.perf.report.quantities import counted, quantity
from decider.perf.report.result_file import Cell, Status

DARK_TEXT, LIGHT_TEXT = "#10151c", "#ffffff"
SHADES = (
    *(("#eef5fc", DARK_TEXT), ("#d9e8f6", DARK_TEXT), ("#bfd8ee", DARK_TEXT)),
    *(("#9fc4e4", DARK_TEXT), ("#7dafd8", DARK_TEXT), ("#5b97c8", DARK_TEXT)),
    *(("#2f6fa8", LIGHT_TEXT), ("#1b5488", LIGHT_TEXT), ("#0c3a66", LIGHT_TEXT)),
)
"""Background and text of each step, lowest value first: the same by day and by night."""


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
    """One cell of the table: its text, the sentence for hover and keyboard, its shade if any."""

    text: str
    readout: str
    kind: Literal["measured", "failed", "skipped", "absent"]
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
    rows = _ordered(entry.row for entry in entries)
    columns = _ordered(entry.column for entry in entries)
    shade = _shades(entry.value for entry in entries if entry.status == "measured")
    squares = {
        (entry.row, entry.column): _square(entry, row_name, column_name, shade) for entry in entries
    }
    absent = Square("", "", "absent")
    table = tuple(
        (row, tuple(squares.get((row, column), absent) for column in columns)) for row in rows
    )
    legend = _legend(entries)
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
    return sorted(different, key=int) if all(map(str.isdecimal, different)) else different


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


def _square(
    entry: Entry, row_name: str, column_name: str, shade: Callable[[float], int | None]
) -> Square:
    where = f"{row_name} {entry.row}, {column_name} {entry.column}"
    if entry.status == "skipped":
        return Square("", f"{where}: skipped", "skipped")
    if entry.status == "failed":
        return Square("failed", f"{where}: failed", "failed")
    if entry.status == "absent":
        return Square("missing", f"{where}: captured, but not measured", "failed")
    text = quantity(entry.value, entry.unit)
    detail = f" ({entry.detail})" if entry.detail else ""
    return Square(text, f"{where}: {text}{detail}", "measured", shade(entry.value))


def _legend(entries: Sequence[Entry]) -> str:
    drawn = [e for e in entries if e.status == "measured" and 0 < e.value < math.inf]
    if not drawn:
        return ""
    low = min(drawn, key=lambda entry: entry.value)
    high = max(drawn, key=lambda entry: entry.value)
    return f"{quantity(low.value, low.unit)} (light) to {quantity(high.value, high.unit)} (dark)"
