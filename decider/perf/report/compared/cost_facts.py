"""The cost model on both sides in sentences: the lines, the overhead's drift, the constant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from decider.perf.comparison.document import Document
from decider.perf.report.compared.words import signed
from decider.perf.report.quantities import counted, quantity

SIDES = ("base", "head")


@dataclass(frozen=True)
class CostFacts:
    """What is said of the two lines, and the document's reservations about them."""

    facts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def cost_facts(document: Document) -> CostFacts:
    """The cost models of the comparison; a note where there are none."""
    found = document["cost_model"]
    if found is None:
        return CostFacts(notes=("No cost model was fitted.",))
    facts = [_line_fact(side, found[side]) for side in SIDES]
    return CostFacts((*facts, _drift(found), *_constant(found)), tuple(found["notes"]))


def _line_fact(side: str, line: Mapping[str, Any] | None) -> str:
    if line is None:
        return f"{side.capitalize()} has no line"
    cells = counted(len(line["cells"]), "cell")
    if line["overhead"] is None:
        return f"{side.capitalize()}: no overhead could be fitted to {cells}"
    return (
        f"{side.capitalize()}: overhead {line['overhead']:,.0f} token-units"
        f"{_between(line['low'], line['high'])}, a forward takes "
        f"{quantity(line['fixed_seconds'], 'seconds')} and "
        f"{quantity(line['seconds_per_token'], 'seconds')} more for each padded token; "
        f"fitted to {cells}"
    )


def _between(low: float | None, high: float | None, digits: str = ",.0f") -> str:
    if low is None or high is None:
        return " (no interval)"
    return f" (95% interval {low:{digits}} to {high:{digits}})"


def _drift(found: Mapping[str, Any]) -> str:
    if found["ratio"] is None:
        return "How the overhead drifted is not known"
    between = _between(found["ratio_low"], found["ratio_high"], ".3f")
    return f"The overhead of head is {found['ratio']:.3f} times that of base{between}"


def _constant(found: Mapping[str, Any]) -> Iterator[str]:
    if found["constant"] is None:
        yield "Head ships no constant for this device"
    elif found["excess"] is None:
        yield f"Head ships {found['constant']:,.0f}; what its plans cost is not known"
    else:
        yield (
            f"Head ships {found['constant']:,.0f}: its plans take {signed(found['excess'])} beside "
            "those of the refitted constant on head"
        )
