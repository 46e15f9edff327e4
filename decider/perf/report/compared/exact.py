"""Exact figures of a comparison: what rose first, and only what changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from decider.perf.comparison.document import Document
from decider.perf.report.compared.words import signed
from decider.perf.report.quantities import counted, exact

Line = tuple[str, str, str, str, str]
"""Figure, queue or group, base, head, difference."""

HEADERS = ("figure", "queue", "base", "head", "difference")


@dataclass(frozen=True)
class ExactFigures:
    """What is said of them, the changes (rises first), the sums that changed, and the notes."""

    sentence: str
    changes: tuple[Line, ...] = ()
    totals: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()


def exact_figures(document: Document) -> ExactFigures:
    """The exact figures of the comparison; a sentence where there are none."""
    found = document["exact"]
    if found is None:
        return ExactFigures("Exact figures were not compared.")
    totals = [line for line in found["totals"] if line["base"] != line["head"]]
    return ExactFigures(
        _sentence(found),
        tuple(_line(line, line["queue"]) for line in found["changes"]),
        tuple(_line(line, line["group"]) for line in totals),
        tuple(found["notes"]),
    )


def _sentence(found: Mapping[str, Any]) -> str:
    compared = counted(found["compared"], "exact figure")
    if found["rises"] or found["falls"] or found["changes"]:
        sentence = f"Of {compared}, {found['rises']:,} rose and {found['falls']:,} fell."
        listed = len(found["changes"])
        if listed < found["rises"] + found["falls"]:
            sentence += f" The first {listed:,} are listed."
    elif found["compared"]:
        sentence = f"Nothing changed in {compared}."
    else:
        sentence = "No exact figure was there on both sides."
    for side in ("base", "head"):
        if count := found[f"only_{side}"]:
            sentence += f" Only {side} has {count:,} more."
    return sentence


def _line(line: Mapping[str, Any], where: str) -> Line:
    base, head = line["base"], line["head"]
    difference = signed(head / base - 1) if base > 0 else f"{head - base:+.3g}"
    return line["figure"], where, exact(base), exact(head), difference
