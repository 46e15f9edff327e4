"""The cells of a comparison as the lines of a table that can be sorted and filtered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from decider.perf.comparison.document import Document
from decider.perf.report.compared.words import (
    Cell,
    interval_of,
    is_void,
    signed,
    value,
    verdict_word,
    worst_first,
)
from decider.perf.report.strips import ratio_strip


@dataclass(frozen=True)
class ComparedRow:
    """One line.

    Attributes:
        kind: the verdict as a class of the style sheet.
        numbers: of change, interval, smallest visible change, pairs, pairs needed, base and head
            the text, and what to sort by where the text is not enough.
        strip: the log-ratios of the pairs.
    """

    cell: str
    verdict: str
    kind: str
    numbers: tuple[tuple[str, str], ...]
    strip: Markup
    reason: str


HEADERS = ("change", "interval", "smallest visible", "pairs", "pairs needed", "base", "head")


def compared_rows(document: Document) -> list[ComparedRow]:
    """A line a cell, the worst first, and the control last."""
    ratios = log_ratios(document)
    void = is_void(document)
    control = [document["control"]] if document["control"] else []
    return [
        _row(cell, ratios.get(cell["id"], ()), void) for cell in [*worst_first(document), *control]
    ]


def log_ratios(document: Document) -> Mapping[str, Sequence[float]]:
    """By cell, the log-ratio of each pair that has one, in the order of the pairs."""
    found: dict[str, list[float]] = {}
    for pair in document["pairs"]:
        for cell, samples in pair["samples"].items():
            found.setdefault(cell, []).append(samples["log_ratio"])
    return found


def _row(cell: Cell, ratios: Sequence[float], void: bool) -> ComparedRow:
    low, high, change = cell["low"], cell["high"], cell["change"]
    width = math.inf if low is None or high is None else high - low
    numbers = (
        (signed(change), ""),
        (interval_of(cell), "" if change is None else _key(width)),
        (signed(cell["smallest_visible"]), ""),
        (f"{cell['pairs']:,}", ""),
        (_needed(cell), ""),
        (value(cell, "base"), _key(cell["base_value"])),
        (value(cell, "head"), _key(cell["head_value"])),
    )
    return ComparedRow(
        cell["id"],
        verdict_word(cell, void=void),
        "void" if void else cell["verdict"].replace(" ", "-"),
        numbers,
        ratio_strip(ratios),
        cell["reason"] or "",
    )


def _needed(cell: Cell) -> str:
    if cell["verdict"] != "inconclusive":
        return ""
    return "not known" if cell["pairs_needed"] is None else f"{cell['pairs_needed']:,}"


def _key(number: float | None) -> str:
    """What the page's script sorts by: short, since a page holds thousands."""
    return "" if number is None or not math.isfinite(number) else f"{number:.4g}"
