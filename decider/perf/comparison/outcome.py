"""What a comparison comes to: one word, one sentence, one exit status.

Knows the verdicts of cells; knows no measurements and no files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from decider.perf.comparison.document import VERDICTS

FailOn = Literal["undecided", "failed", "regression", "never"]
FAIL_ON: tuple[FailOn, ...] = ("undecided", "failed", "regression", "never")

NOTHING_WORSE, WORSE, NOT_DECIDED = 0, 1, 2
MOST_NAMED = 3


def counts(cells: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Cells by verdict, all six of them."""
    found = Counter(cell["verdict"] for cell in cells)
    return {verdict: found[verdict] for verdict in VERDICTS}


def outcome(
    cells: Sequence[Mapping[str, Any]],
    void: str | None,
    cost_rises: int,
    *,
    exact_failed: bool = False,
) -> dict[str, Any]:
    """The `outcome` part of a comparison's document.

    Args:
        cells: the cells' parts.
        void: why nothing counts, if nothing does.
        cost_rises: plans that cost more on head, exactly.
        exact_failed: whether a side's exact figures could not be had: a plan of it may cost more
            than the per-bucket grouping.
    """
    found = counts(cells)
    name = _name(found, void, cost_rises, exact_failed)
    return {
        "name": name,
        "exit_status": {"nothing worse": NOTHING_WORSE, "regression": WORSE}.get(name, NOT_DECIDED),
        "sentence": _sentence(name, cells, found, void, cost_rises, exact_failed),
        "counts": found,
    }


def exit_status(document: Mapping[str, Any], fail_on: FailOn) -> int:
    """The exit status of a comparison.

    Args:
        document: the comparison.
        fail_on: what is not 0. "undecided": a regression is 1 and whatever could not be decided
            or measured is 2. "failed": the same, but inconclusive cells pass. "regression": a
            regression alone is 1. "never": nothing is.
    """
    name = document["outcome"]["name"]
    if fail_on == "never" or name == "nothing worse":
        return NOTHING_WORSE
    if name == "regression":
        return WORSE
    passes = {"failed": ("undecided",), "undecided": ()}.get(fail_on)
    return NOTHING_WORSE if passes is None or name in passes else NOT_DECIDED


def _name(found: Mapping[str, int], void: str | None, cost_rises: int, exact_failed: bool) -> str:
    if void:
        return "void"
    if found["regressed"] or cost_rises:
        return "regression"
    if found["failed"] or exact_failed or not any(found.values()):
        return "failed"
    if found["not comparable"]:
        return "not comparable"
    return "undecided" if found["inconclusive"] else "nothing worse"


def _sentence(
    name: str,
    cells: Sequence[Mapping[str, Any]],
    found: Mapping[str, int],
    void: str | None,
    cost_rises: int,
    exact_failed: bool,
) -> str:
    if void:
        return f"Void: {void}."
    if not cells:
        return "Nothing was measured: no arm told its cells."
    parts = []
    for verdict in VERDICTS:
        if found[verdict]:
            parts.append(f"{found[verdict]} {verdict}{_named(verdict, cells)}")
    if cost_rises:
        parts.append(f"{cost_rises} plans cost more" if cost_rises > 1 else "1 plan costs more")
    if exact_failed:
        parts.append("exact figures failed")
    start = {
        "regression": "Worse",
        "nothing worse": "Nothing worse",
        "undecided": "Undecided",
        "not comparable": "Not comparable",
        "failed": "Failed",
    }[name]
    total = len(cells)
    return f"{start}: of {total} cell{'s' if total != 1 else ''} {', '.join(parts)}."


def _named(verdict: str, cells: Sequence[Mapping[str, Any]]) -> str:
    """The cells that moved the most, in brackets; for the verdicts that say a cell moved."""
    if verdict not in ("regressed", "improved"):
        return ""
    own = [cell for cell in cells if cell["verdict"] == verdict]
    own.sort(key=lambda cell: -abs(cell["change"]))
    named = [f"{cell['id']} {cell['change']:+.1%}" for cell in own[:MOST_NAMED]]
    more = f" and {len(own) - MOST_NAMED} more" if len(own) > MOST_NAMED else ""
    return f" ({', '.join(named)}{more})"
