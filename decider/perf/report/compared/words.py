"""How verdicts, changes and intervals are written, alike on the page and in the comment.

A verdict has a sign and a word, so that it can be told without its colour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from decider.perf.comparison.document import VERDICTS, Document
from decider.perf.report.quantities import quantity

Cell = Mapping[str, Any]

SIGNS = dict(zip(VERDICTS, "▲▼=?≠✕", strict=True))
"""A sign a verdict: slower, faster, the same, not known, other things, none."""

OUTCOMES = {
    "nothing worse": "Nothing worse",
    "regression": "Regression",
    "undecided": "Undecided",
    "void": "Void: no verdict of this run counts",
    "not comparable": "Not comparable",
    "failed": "Failed",
}
UNBOUNDED = "unbounded"


def signed(change: float | None) -> str:
    """A relative change as people read it: `+3.1%`, `−0.25%`; empty where there is none."""
    if change is None or math.isnan(change):
        return ""
    if math.isinf(change):
        return "+∞%" if change > 0 else "−∞%"
    percent = 100 * change
    size = abs(percent)
    if size >= 1e6:
        text = f"{size:.1e}"
    else:
        text = f"{size:,.{2 if size < 1 else 1 if size < 100 else 0}f}"
    if not text.strip("0."):
        return f"{text}%"
    return f"{'−' if percent < 0 else '+'}{text}%"


def interval(low: float | None, high: float | None) -> str:
    """`−0.5% to +1.2%`; a missing end has no bound."""
    if low is None and high is None:
        return UNBOUNDED
    if low is None:
        return f"up to {signed(high)}"
    return f"{signed(low)} and more" if high is None else f"{signed(low)} to {signed(high)}"


def interval_of(cell: Cell) -> str:
    """The interval of a cell's change; empty where it has no change."""
    return "" if cell["change"] is None else interval(cell["low"], cell["high"])


def value(cell: Cell, side: str) -> str:
    """The cell's value on `base` or `head` in its unit; empty where there is none."""
    number = cell[f"{side}_value"]
    return "" if number is None else quantity(number, cell["unit"])


def verdict_word(cell: Cell, *, void: bool) -> str:
    """Sign and word; of a void run only that it is one, since no verdict of it counts."""
    return "void" if void else f"{SIGNS[cell['verdict']]} {cell['verdict']}"


def is_void(document: Document) -> bool:
    """Whether no verdict of the run counts."""
    return document["void"] is not None or document["outcome"]["name"] == "void"


def worst_first(document: Document) -> list[Cell]:
    """The cells in the order in which a reader wants them.

    Regressed ones by their size, then those that failed or could not be compared, then the
    undecided ones, the widest interval first, then improved and unchanged ones.
    """
    order = ("regressed", "failed", "not comparable", "inconclusive", "improved", "unchanged")

    def key(cell: Cell) -> tuple[int, float, str]:
        change = cell["change"] if cell["change"] is not None else 0.0
        size = _width(cell) if cell["verdict"] == "inconclusive" else abs(change)
        return order.index(cell["verdict"]), -size, cell["id"]

    return sorted(document["cells"], key=key)


def _width(cell: Cell) -> float:
    low, high = cell["low"], cell["high"]
    return math.inf if low is None or high is None else high - low
