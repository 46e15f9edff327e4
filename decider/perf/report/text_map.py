"""The forwards' changes as a map of characters, for where no colours are."""

from __future__ import annotations

from dataclasses import dataclass

from decider.perf.comparison.document import Document
from decider.perf.report.compared.words import SIGNS, is_void, signed

MOST_ROWS = 12
MOST_COLUMNS = 12
LONGEST_LABEL = 7
LEGEND = "▲ slower, ▼ faster, = unchanged, ? inconclusive, ≠ not comparable, ✕ failed"


@dataclass(frozen=True)
class TextMap:
    """Lines of equal width, and what the signs in them mean."""

    lines: tuple[str, ...]
    legend: str


def text_map(document: Document) -> TextMap | None:
    """The map of the forwards, B by T; None where no forward changed or the run is void.

    Rows and columns without a change are left out where there are more than fit, and then the
    legend says so. Shapes whose B or T is no number are none and are not drawn.
    """
    squares = {
        (batch, length): cell
        for cell in document["cells"]
        if cell["benchmark"] == "forward"
        and (batch := _number(cell["parameters"].get("batch"))) is not None
        and (length := _number(cell["parameters"].get("length"))) is not None
    }
    changed = [k for k, cell in squares.items() if cell["verdict"] in ("regressed", "improved")]
    if is_void(document) or not changed:
        return None
    rows, fewer_rows = _kept([b for b, _ in squares], [b for b, _ in changed], MOST_ROWS)
    columns, fewer_columns = _kept([t for _, t in squares], [t for _, t in changed], MOST_COLUMNS)
    table = [["B\\T", *(str(column) for column in columns)]]
    for row in rows:
        found = [squares.get((row, column)) for column in columns]
        table.append([str(row), *("" if cell is None else _text(cell) for cell in found)])
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    lines = tuple(
        "  ".join(part.rjust(width) for part, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    )
    cut = "; not all rows and columns are shown" if fewer_rows or fewer_columns else ""
    return TextMap(lines, LEGEND + cut)


def _text(cell: dict[str, object]) -> str:
    verdict, change = str(cell["verdict"]), cell["change"]
    known = verdict in ("regressed", "improved") and isinstance(change, (int, float))
    return f"{signed(change)}{SIGNS[verdict]}" if known else SIGNS[verdict]  # type: ignore[arg-type]


def _number(label: object) -> int | None:
    shown = str(label)
    usable = shown.isascii() and shown.isdecimal() and len(shown) <= LONGEST_LABEL
    return int(shown) if usable else None


def _kept(labels: list[int], changed: list[int], most: int) -> tuple[list[int], bool]:
    """The labels in order; where they are too many, those with a change, as many as fit."""
    every = sorted(set(labels))
    if len(every) <= most:
        return every, False
    return sorted(set(changed))[:most], True
