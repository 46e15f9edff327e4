"""Plans of both sides: their cost over per-bucket grouping, and the waste ledger as bars.

From the sums that a comparison keeps; a comparison of an older decider may lack some of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from decider.perf.comparison.document import Document
from decider.perf.report.charts import Chart, Series, ledger_chart
from decider.perf.report.compared.cost_facts import SIDES
from decider.perf.report.compared.words import signed
from decider.perf.report.figures import REAL_TOKENS, WASTE, ledger_records, ledger_row
from decider.perf.report.heat_maps import Entry, HeatMap, heat_map
from decider.perf.report.quantities import exact

COST, PER_BUCKET = "cost", "per-bucket cost"
FIGURES = {REAL_TOKENS: REAL_TOKENS} | {part: part.replace("-", " ") for part in WASTE}
"""Parts of the ledger as the page names them, and as the comparison does."""
LEAST = 1.0
"""Token-units of any queue. A stranger's smaller ones would make ratios beyond all numbers."""


class Group(NamedTuple):
    """Queues whose figures were summed."""

    mix: str
    rows: str
    model: str


Sums = Mapping[str, tuple[float, float]]
"""By figure: base and head."""


@dataclass(frozen=True)
class ComparedPlans:
    """Maps and diagrams, one a cost model, and whether any of them differs between the sides."""

    costs: tuple[HeatMap, ...] = ()
    ledgers: tuple[Chart, ...] = ()
    changed: bool = False


def compared_plans(document: Document) -> ComparedPlans:
    """The plans of the comparison; empty where it holds no sums of them."""
    groups = _groups(document)
    models = dict.fromkeys(group.model for group in groups)
    costs, ledgers = [], []
    for model in models:
        own = {group: sums for group, sums in groups.items() if group.model == model}
        if entries := [_entry(group, sums) for group, sums in own.items() if _has_costs(sums)]:
            title = f"On head, planned with the {model} cost"
            costs.append(heat_map(title, "mix", "rows", entries))
        whole = {group: sums for group, sums in own.items() if _has_ledger(sums)}
        if whole:
            ledgers.append(_ledger(model, whole))
    changed = any(base != head for sums in groups.values() for base, head in sums.values())
    return ComparedPlans(tuple(costs), tuple(ledgers), changed)


def _groups(document: Document) -> dict[Group, dict[str, tuple[float, float]]]:
    found: dict[Group, dict[str, tuple[float, float]]] = {}
    for line in document["exact"]["totals"] if document["exact"] else ():
        parts = line["group"].split(", ")
        if len(parts) == len(Group._fields):  # what is of no queue is the engine's
            group = Group(parts[0], parts[1].removesuffix(" rows"), parts[2])
            found.setdefault(group, {})[line["figure"]] = line["base"], line["head"]
    return found


def _has_costs(sums: Sums) -> bool:
    figures = (COST, PER_BUCKET)
    return all(figure in sums and min(sums[figure]) >= LEAST for figure in figures)


def _has_ledger(sums: Sums) -> bool:
    return all(name in sums for name in FIGURES.values()) and min(sums[REAL_TOKENS]) >= LEAST


def _entry(group: Group, sums: Sums) -> Entry:
    base, head = (
        cost / baseline for cost, baseline in zip(sums[COST], sums[PER_BUCKET], strict=True)
    )
    on_base = f"base {exact(base)}"
    if base != head:
        on_base += f", {signed(head / base - 1)}"
    return Entry(group.mix, group.rows, "measured", head, "ratio", on_base)


def _ledger(model: str, groups: Mapping[Group, Sums]) -> Chart:
    """Bars of one cost model: one a queue, or two where the sides differ."""
    records: list[Mapping[str, object]] = []
    rows = []
    for group, sums in groups.items():
        bars = {side: _parts(sums, number) for number, side in enumerate(SIDES)}
        if bars["base"] == bars["head"]:
            bars = {"both sides": bars["head"]}
        for name, ledger in bars.items():
            queue = f"{group.mix}, {group.rows} rows" + (f", {name}" if name in SIDES else "")
            records += ledger_records(queue, ledger)
            rows.append((group.mix, group.rows, name, *ledger_row(ledger)))
    series = Series(records, ("mix", "rows", "side", *FIGURES, "cost"), rows)
    return ledger_chart(f"Planned with the {model} cost", series, tuple(FIGURES))


def _parts(sums: Sums, side: int) -> dict[str, float]:
    """The ledger of one side, in token-units a real token."""
    tokens = sums[REAL_TOKENS][side]
    return {part: sums[name][side] / tokens for part, name in FIGURES.items()}
