"""The document of a run: cells, control, summaries and outcome, as the schema wants them.

Knows runs and judgements; measures nothing, reads and writes no files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from decider.grid import Shape
from decider.perf.comparison.commits import Commit
from decider.perf.comparison.cost_model import cost_model
from decider.perf.comparison.document import SCHEMA, SCHEMA_VERSION
from decider.perf.comparison.exact import compare_exact, cost_rises
from decider.perf.comparison.means import MEAN
from decider.perf.comparison.outcome import counts, outcome
from decider.perf.comparison.pair import SIDES, CellPair, Failure, Pair, Side
from decider.perf.comparison.run import CONTROL, Run
from decider.perf.comparison.traffic import Traffic, traffic
from decider.perf.verdict import Judgement, Verdict
from decider.perf.verdict.summary import geometric_mean_change, weighted_change, worst_cell
from decider.version import __version__

MEASURED_PARTS = ("number", "first", "complete", "seconds")


@dataclass(frozen=True)
class Subject:
    """What is compared: both commits, on what machine, and how to do it again.

    Attributes:
        exact: what `benchmarks.exact_figures` said of each side.
        self_test: the newest one of this machine, if there is one.
    """

    base: Commit
    head: Commit
    profile: str
    command: str
    machine: str
    exact: Mapping[Side, Mapping[str, Any]]
    budget_seconds: float | None
    self_test: Mapping[str, Any] | None = None


def assemble(run: Run, subject: Subject) -> dict[str, Any]:
    """The document of what `run` has measured so far."""
    cells = [_cell(run, name) for name in run.cells if name != CONTROL]
    control = _cell(run, CONTROL) if CONTROL in run.cells else None
    void = _void(control)
    exact = compare_exact(
        subject.exact["base"], subject.exact["head"], (_graphs(run, "base"), _graphs(run, "head"))
    )
    shapes = _shapes(cells)
    weights = traffic(subject.exact["base"].get("traffic", {}), _measured(shapes, cells))
    constant = run.hellos.get("head", {}).get("constant")
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "command": subject.command,
        "machine": subject.machine,
        "profile": subject.profile,
        "base": _side(subject.base, run.environments.get("base")),
        "head": _side(subject.head, run.environments.get("head")),
        "differs": [
            {"name": name, "base": before, "head": now} for name, before, now in run.differs
        ],
        "design": {**asdict(run.design), "looks": list(run.design.looks)},
        "looks_taken": list(run.looks_taken),
        "pairs": [pair_document(pair) for pair in run.pairs],
        "cells": cells,
        "control": control,
        "void": void,
        "summaries": _summaries(cells, weights),
        "exact": exact,
        "cost_model": cost_model(run.pairs, _measured(shapes, cells), constant),
        "outcome": outcome(
            cells,
            void,
            cost_rises(exact),
            exact_failed=any(subject.exact[side].get("failed") for side in SIDES),
        ),
        "self_test": subject.self_test,
        "spent_seconds": run.spent_seconds,
        "budget_seconds": subject.budget_seconds,
    }


def pair_document(pair: Pair) -> dict[str, Any]:
    """A pair as the document holds it."""
    return {
        **{name: getattr(pair, name) for name in MEASURED_PARTS},
        "samples": {
            name: {
                "log_ratio": cell.log_ratio,
                "repeats": cell.repeats,
                "base": cell.blocks["base"],
                "head": cell.blocks["head"],
                "dropped": cell.dropped,
            }
            for name, cell in pair.cells.items()
        },
        "failures": [asdict(failure) for failure in pair.failures],
    }


def pair_of_document(document: Mapping[str, Any]) -> Pair:
    """The pair that `pair_document` wrote; the device's clocks are gone, what they dropped is not.

    A dropped round is left out for good, so that the log-ratio comes out the same.
    """
    pair = Pair(**{name: document[name] for name in MEASURED_PARTS})
    for name, found in document["samples"].items():
        dropped = set(found.get("dropped", ()))
        blocks: dict[Side, list[list[float]]] = {
            side: [b for index, b in enumerate(found[side]) if index // 2 not in dropped]
            for side in SIDES
        }
        pair.cells[name] = CellPair(found["repeats"], blocks)
    pair.failures = [Failure(**failure) for failure in document["failures"]]
    return pair


def _cell(run: Run, name: str) -> dict[str, Any]:
    verdict, reason, judgement = _verdict(run, name)
    own = [pair.cells[name] for pair in run.pairs if name in pair.cells]
    return {
        **{
            field: run.cells[name][field]
            for field in ("id", "benchmark", "parameters", "real_tokens", "padded_tokens")
        },
        "unit": "seconds",
        "verdict": str(verdict),
        "reason": reason,
        "base_value": _value(own, "base"),
        "head_value": _value(own, "head"),
        **{
            field: getattr(judgement, field, None)
            for field in (
                *("decided_at", "change", "low", "high"),
                *("smallest_visible", "pairs_needed"),
            )
        },
        "pairs": len(own),
    }


def _verdict(run: Run, name: str) -> tuple[Verdict, str | None, Judgement | None]:
    judgement = run.judgements.get(name)
    if name in run.reasons:
        verdict, reason = run.reasons[name]
        return verdict, reason, judgement
    if judgement is not None and judgement.pairs:
        return judgement.verdict, None, judgement
    failures = [failure for pair in run.pairs for failure in pair.failures]
    if failures and name not in run.log_ratios:
        last = failures[-1]
        where = last.cell or "its start"
        reason = f"never measured; {last.arm} in {where}: {last.kind}: {last.message}"
        return Verdict.FAILED, reason[:4_000], judgement
    return Verdict.INCONCLUSIVE, None, judgement


def _value(own: Sequence[CellPair], side: Side) -> float | None:
    """Median over the pairs of a side's median."""
    values = [median(median(block) for block in cell.blocks[side]) for cell in own]
    return median(values) if values else None


def _void(control: Mapping[str, Any] | None) -> str | None:
    if control is None or control["verdict"] not in (Verdict.REGRESSED, Verdict.IMPROVED):
        return None
    return (
        f"the control, which runs nothing of decider, moved by {control['change']:+.1%}: the two "
        "sides were not treated alike, and no verdict of this run counts"
    )


def _side(commit: Commit, environment: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "name": commit.name[:2_000],
        "commit": commit.hash,
        "subject": commit.subject[:2_000],
        "date": commit.date,
        "environment": dict(environment or {}),
    }


def _graphs(run: Run, side: Side) -> Mapping[str, float] | None:
    graphs: Mapping[str, float] | None = run.hellos.get(side, {}).get("graphs")
    return graphs


def _shapes(cells: Sequence[Mapping[str, Any]]) -> dict[str, Shape]:
    return {
        cell["id"]: Shape(int(cell["parameters"]["batch"]), int(cell["parameters"]["length"]))
        for cell in cells
        if cell["benchmark"] == "forward"
    }


def _measured(shapes: Mapping[str, Shape], cells: Sequence[Mapping[str, Any]]) -> dict[str, Shape]:
    measured = {cell["id"] for cell in cells if cell["base_value"] is not None}
    return {name: shape for name, shape in shapes.items() if name in measured}


def _summaries(cells: Sequence[Mapping[str, Any]], weights: Traffic | None) -> list[dict[str, Any]]:
    by_benchmark: dict[str, list[Mapping[str, Any]]] = {}
    cells = [cell for cell in cells if cell["benchmark"] != MEAN]
    for cell in cells:
        by_benchmark.setdefault(cell["benchmark"], []).append(cell)
    return [
        *(_summary(name, own, weights) for name, own in by_benchmark.items()),
        _summary(None, cells, None),
    ]


def _summary(
    benchmark: str | None, cells: Sequence[Mapping[str, Any]], weights: Traffic | None
) -> dict[str, Any]:
    changes = {cell["id"]: cell["change"] for cell in cells}
    weighted = None
    if weights is not None and benchmark == "forward":
        values = {cell["id"]: cell["base_value"] for cell in cells}
        weighted = weighted_change(changes, values, weights.weights).change
    return {
        "benchmark": benchmark,
        "cells": len(cells),
        "counts": counts(cells),
        "geometric_mean": geometric_mean_change(changes.values()),
        "weighted_mean": weighted,
        "weights": weights.description if weights is not None and weighted is not None else None,
        "worst": worst_cell(changes),
    }
