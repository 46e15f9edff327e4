"""What failed while arms ran, told once however many pairs it struck."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from decider.perf.comparison.document import Document

MOST_SHOWN = 100


@dataclass(frozen=True)
class Failure:
    """A failure of one arm: where, of what kind, its message, and in how many pairs."""

    arm: str
    where: str
    kind: str
    message: str
    pairs: int


def failures(document: Document) -> tuple[list[Failure], int]:
    """The failures, the most frequent first, at most 100 of them; and how many there are in all."""
    found = Counter(
        (failure["arm"], failure["cell"], failure["kind"], failure["message"])
        for pair in document["pairs"]
        for failure in pair["failures"]
    ).most_common()
    shown = [
        Failure(arm, "while it started" if cell is None else cell, kind, message, count)
        for (arm, cell, kind, message), count in found[:MOST_SHOWN]
    ]
    return shown, len(found)


def unstarted(document: Document) -> list[str]:
    """The sides of which no process ever started, though pairs were tried."""
    sides = ("base", "head") if document["pairs"] else ()
    return [side for side in sides if not document[side]["environment"]]
