"""What must not differ between two sides, for their times to be compared.

Knows what arms say of themselves; judges no times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decider.perf.comparison.pair import Side

WORKLOAD = {
    f"engine.{name}" for name in ("model", "seed", "parameters", "dtype", "device", "threads")
}
"""What a forward is. The rest of what an engine says of itself is how it runs it: its backend, its
kernels. A commit may change that, and the comparison is there to tell what it is worth."""

ENGINE = "engine."


def differing(base: Mapping[str, Any], head: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Name, base's value and head's of every field in which they differ, missing ones as None."""
    names = [*dict.fromkeys([*base, *head])]
    return [
        (name, base.get(name), head.get(name)) for name in names if base.get(name) != head.get(name)
    ]


def not_comparable(
    hellos: Mapping[Side, Mapping[str, Any]], differs: list[tuple[str, Any, Any]]
) -> dict[str, str]:
    """Why each cell that cannot be compared cannot, by its id.

    A cell is not compared where a side lacks it, where the machine or the packages differ, and,
    if it is a forward, where the sides run different models.
    """
    reasons: dict[str, str] = {}
    cells = {cell["id"]: cell for side in ("head", "base") for cell in hellos[side]["cells"]}
    for name, cell in cells.items():
        found = [
            f"{side}: {reason}"
            for side in ("base", "head")
            if (reason := _lack(hellos[side], name)) is not None
        ] or [
            f"{field}: {before!r} on base, {now!r} on head"
            for field, before, now in differs
            if _matters(field, cell["benchmark"])
        ]
        if found:
            reasons[name] = "; ".join(found)
    return reasons


def check_same_machine(side: str, known: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """See that an arm runs on what the earlier arms of its side ran on.

    Raises:
        ValueError: it does not; the message says what changed.
    """
    changed = differing(known, found)
    if changed:
        facts = "; ".join(f"{name} was {before!r} and is {now!r}" for name, before, now in changed)
        raise ValueError(
            f"the machine changed during the comparison ({side}: {facts}): start it anew"
        )


def _lack(hello: Mapping[str, Any], name: str) -> str | None:
    for cell in hello["cells"]:
        if cell["id"] == name:
            reason: str | None = cell.get("skip")
            return reason
    return "it has no such cell"


def _matters(field: str, benchmark: str) -> bool:
    if not field.startswith(ENGINE):
        return True
    return field in WORKLOAD and benchmark == "forward"
