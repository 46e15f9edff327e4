"""Exact figures of two sides, held against each other: no statistics, every rise named.

Knows the documents of `benchmarks.exact_figures`; runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

COST = "cost"
"""The figure that a rise makes worse by itself; the others are what it is made of."""

MOST_CHANGES = 1_000
ENGINE = "the engine"

Figures = Mapping[str, Mapping[str, float]]


def compare_exact(
    base: Mapping[str, Any],
    head: Mapping[str, Any],
    graphs: tuple[Mapping[str, float] | None, Mapping[str, float] | None] = (None, None),
) -> dict[str, Any]:
    """The `exact` part of a comparison's document.

    Args:
        base, head: what `benchmarks.exact_figures` printed, or why it did not: figures by queue,
            and a note.
        graphs: count and bytes of the captured graphs on base and head; None where there are none.
    """
    before, now = (
        {**side["figures"], **({ENGINE: own} if own else {})}
        for side, own in zip((base, head), graphs, strict=True)
    )
    both = list(_pairs(before, now))
    changes = [(figure, queue, old, new) for figure, queue, old, new in both if old != new]
    changes.sort(key=_order)
    notes = [
        f"{name}: {side['note']}"
        for name, side in (("base", base), ("head", head))
        if side.get("note")
    ]
    return {
        "compared": len(both),
        "rises": sum(new > old for _, _, old, new in changes),
        "falls": sum(new < old for _, _, old, new in changes),
        "changes": [
            {"figure": figure, "queue": queue, "base": old, "head": new}
            for figure, queue, old, new in changes[:MOST_CHANGES]
        ],
        "totals": _totals(before, now),
        "only_base": _count(before) - len(both),
        "only_head": _count(now) - len(both),
        "notes": notes,
    }


def _order(change: tuple[str, str, float, float]) -> tuple[bool, bool, float]:
    """Costs that rise first, since the list is cut; then rises; the largest share first."""
    figure, _, old, new = change
    return not (figure == COST and new > old), new < old, -abs(_share(old, new))


def cost_rises(exact: Mapping[str, Any] | None) -> int:
    """How many of the listed changes are plans that cost more on head."""
    if exact is None:
        return 0
    return sum(
        change["figure"] == COST and change["head"] > change["base"] for change in exact["changes"]
    )


def _pairs(before: Figures, now: Figures) -> Iterator[tuple[str, str, float, float]]:
    for queue, figures in before.items():
        for figure, value in figures.items():
            other = now.get(queue, {}).get(figure)
            if other is not None:
                yield figure, queue, value, other


def _totals(before: Figures, now: Figures) -> list[dict[str, Any]]:
    """Sums over the queues of one mix, size and cost model, in the order of the queues."""
    sums: dict[tuple[str, str], list[float]] = {}
    for figure, queue, old, new in _pairs(before, now):
        total = sums.setdefault((figure, _group(queue)), [0.0, 0.0])
        total[0] += old
        total[1] += new
    return [
        {"figure": figure, "group": group, "base": old, "head": new}
        for (figure, group), (old, new) in sums.items()
    ]


def _group(queue: str) -> str:
    return ", ".join(part for part in queue.split(", ") if not part.startswith("seed "))


def _share(old: float, new: float) -> float:
    return (new - old) / old if old else float("inf")


def _count(figures: Figures) -> int:
    return sum(len(found) for found in figures.values())
