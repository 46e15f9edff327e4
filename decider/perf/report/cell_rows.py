"""Cells as the lines of a table that can be sorted and filtered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from decider.perf.report.differences import Differences
from decider.perf.report.quantities import exact, quantity
from decider.perf.report.result_file import Cell
from decider.perf.report.strips import strip


@dataclass(frozen=True)
class CellRow:
    """One line: texts as they are shown, and numbers to sort by where the text is not enough.

    Attributes:
        before, ratio: of the baseline; empty without one.
        strip: the samples as a drawing.
    """

    benchmark: str
    parameters: str
    status: str
    kind: str
    value: str
    value_key: str
    interval: str
    samples: int
    strip: Markup
    before: str = ""
    before_key: str = ""
    ratio: str = ""


def cell_rows(cells: Sequence[Cell], compared: Differences | None) -> list[CellRow]:
    """A line for each of `cells`, in their order."""
    return [_row(cell, compared) for cell in cells]


def _row(cell: Cell, compared: Differences | None) -> CellRow:
    low, high = cell.interval or (math.nan, math.nan)
    half_width = (high - low) / 2 / cell.value if cell.value > 0 else math.nan
    before = share = math.nan
    if compared:
        before = compared.before.get((cell.benchmark, cell.parameters), math.nan)
        share = compared.ratio(cell)
    return CellRow(
        benchmark=cell.benchmark,
        parameters=cell.label,
        status=cell.status,
        kind="exact" if cell.is_exact else "noisy",
        value=_text(cell.value, cell),
        value_key=_key(cell.value, cell),
        interval="" if math.isnan(half_width) else f"±{half_width:.1%}",
        samples=len(cell.samples),
        strip=strip(cell.samples, cell.unit),
        before=_text(before, cell),
        before_key=_key(before, cell),
        ratio="" if math.isnan(share) else f"{share:.3f}",
    )


def _text(value: float, cell: Cell) -> str:
    if math.isnan(value):
        return ""
    if cell.is_exact and math.isfinite(value):
        return exact(value)
    return quantity(value, cell.unit)


def _key(value: float, cell: Cell) -> str:
    """What the page's script sorts by: no more digits than mean anything."""
    if not math.isfinite(value):
        return ""
    return f"{value:.12g}" if cell.is_exact else f"{value:.4g}"
