"""Heat maps of a comparison: change with verdict, time, what a real token takes, what is visible.

A verdict is told by sign and word, and by hatching or crossing where there is none; colour only
repeats it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from decider.perf.comparison.document import Document
from decider.perf.report.compared.words import (
    SIGNS,
    Cell,
    interval_of,
    is_void,
    signed,
    value,
    verdict_word,
)
from decider.perf.report.heat_maps import (
    DARK_TEXT,
    MOST_DETAILED,
    Entry,
    HeatMap,
    Square,
    heat_map,
    table_of_squares,
)
from decider.perf.report.quantities import counted

FORWARD, PLAN = "forward", "plan"
STEPS = (0.03, 0.10)
"""Where a change's colour gets deeper, relative."""

WORSE = (("#fbe3d3", DARK_TEXT), ("#f2b48a", DARK_TEXT), ("#e08a4c", DARK_TEXT))
BETTER = (("#dcebf8", DARK_TEXT), ("#9fc4e4", DARK_TEXT), ("#6ea6d3", DARK_TEXT))
"""Background and text of each step, the smallest change first: the same by day and by night."""

_HATCHED = {"inconclusive": " (hatched)", "failed": " (crossed)", "not comparable": " (dotted)"}
LEGEND = (
    ", ".join(f"{sign} {verdict}{_HATCHED.get(verdict, '')}" for verdict, sign in SIGNS.items())
    + f". Colours get deeper at {STEPS[0]:.0%} and {STEPS[1]:.0%}; orange is slower, blue faster."
)
VOID_LEGEND = "The run is void: no square is a verdict."


def forward_maps(document: Document) -> list[HeatMap]:
    """The maps of the forwards, B by T; none where no forward is among the cells."""
    cells = _cells(document, FORWARD, "batch", "length")
    if not cells:
        return []
    return [
        change_map("Change with verdict", ("B", "T"), ("batch", "length"), cells, document),
        _map("Time of a forward on head", cells, _seconds, "seconds"),
        _map("Microseconds per real token on head", cells, _per_real_token, "microseconds"),
        _map("Smallest visible slow-down", cells, _visible, "percent"),
    ]


def plan_maps(document: Document) -> list[HeatMap]:
    """A map of the planner's time for each cost model, mix by rows."""
    cells = _cells(document, PLAN, "mix", "rows", "cost")
    models = dict.fromkeys(str(cell["parameters"]["cost"]) for cell in cells)
    return [
        change_map(
            f"Time of planning, {model} cost: change with verdict",
            ("mix", "rows"),
            ("mix", "rows"),
            [cell for cell in cells if str(cell["parameters"]["cost"]) == model],
            document,
        )
        for model in models
    ]


def change_map(
    title: str,
    names: tuple[str, str],
    parameters: tuple[str, str],
    cells: Sequence[Cell],
    document: Document,
) -> HeatMap:
    """Signed changes with their verdicts."""
    void = is_void(document)
    detailed = len(cells) <= MOST_DETAILED
    row, column = parameters
    squares = {
        (str(cell["parameters"][row]), str(cell["parameters"][column])): _square(
            cell, void, detailed
        )
        for cell in cells
    }
    return table_of_squares(title, *names, squares, VOID_LEGEND if void else LEGEND)


def _cells(document: Document, benchmark: str, *parameters: str) -> list[Cell]:
    return [
        cell
        for cell in document["cells"]
        if cell["benchmark"] == benchmark and all(p in cell["parameters"] for p in parameters)
    ]


def _square(cell: Cell, void: bool, detailed: bool) -> Square:
    verdict, change = cell["verdict"], cell["change"]
    text = signed(change) or ("" if void else verdict)
    parts = [verdict_word(cell, void=void)]
    if change is not None:
        parts.append(f"{signed(change)}, interval {interval_of(cell)}")
    if detailed:
        if values := [v for v in (value(cell, "base"), value(cell, "head")) if v]:
            parts.append(" → ".join(values))
        if cell["smallest_visible"] is not None:
            parts.append(f"visible from {signed(cell['smallest_visible'])}")
        parts.append(counted(cell["pairs"], "pair"))
    if cell["reason"]:
        parts.append(cell["reason"][:200])
    said = "; ".join(parts)
    if void:
        return Square(text, said, "inconclusive")
    return Square(f"{SIGNS[verdict]} {text}", said, _kind(verdict, change))


def _kind(verdict: str, change: float | None) -> str:
    """The class of a square: verdict, and for a change how deep its colour is."""
    if verdict in ("regressed", "improved") and change is not None:
        side = "worse" if verdict == "regressed" else "better"
        return f"{side}-{sum(abs(change) >= step for step in STEPS)}"
    return verdict.replace(" ", "-")


def _map(
    title: str, cells: Sequence[Cell], number: Callable[[Cell], float | None], unit: str
) -> HeatMap:
    return heat_map(title, "B", "T", [_entry(cell, number(cell), unit) for cell in cells])


def _entry(cell: Cell, number: float | None, unit: str) -> Entry:
    batch, length = (str(cell["parameters"][name]) for name in ("batch", "length"))
    if number is not None:
        return Entry(batch, length, "measured", number, unit)
    if cell["verdict"] == "failed":
        return Entry(batch, length, "failed", math.nan, unit)
    return Entry(batch, length, "skipped", math.nan, unit, "not known")


def _seconds(cell: Cell) -> float | None:
    seconds: float | None = cell["head_value"]
    return seconds


def _per_real_token(cell: Cell) -> float | None:
    seconds, tokens = cell["head_value"], cell["real_tokens"]
    return None if seconds is None or not tokens or tokens < 0 else 1e6 * seconds / tokens


def _visible(cell: Cell) -> float | None:
    visible = cell["smallest_visible"]
    return None if visible is None else 100 * visible
