"""Comparisons made up for the tests: documents as `decider compare` writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from decider.perf.comparison.document import check_comparison
from tests.perf.report.comparison_parts import (
    BATCHES,
    LENGTHS,
    PAIRS,
    cost_model,
    exact,
    outcome,
    pair,
    pairs,
    plan_totals,
    self_test,
    side,
    summary,
)
from tests.perf.report.results import COMMIT, OLDER


def cell(
    identifier: str, verdict: str, change: float | None = None, /, **fields: Any
) -> dict[str, Any]:
    """A cell; its benchmark and parameters are read from the identifier."""
    benchmark, *rest = identifier.split("/")
    parameters: dict[str, Any] = {}
    tokens = None
    if benchmark == "forward":
        batch, length = map(int, rest[0].split("x"))
        parameters, tokens = {"batch": batch, "length": length}, batch * length
    elif benchmark == "plan":
        parameters = dict(zip(("mix", "rows", "cost"), rest, strict=True))
    known = change is not None
    seconds = 2e-3 + 4e-6 * (tokens or 100)
    return {
        "id": identifier,
        "benchmark": benchmark,
        "parameters": parameters,
        "unit": "seconds",
        "real_tokens": None if tokens is None else 0.75 * tokens,
        "padded_tokens": tokens,
        "verdict": verdict,
        "reason": None,
        "pairs": PAIRS if known else 0,
        "decided_at": PAIRS if verdict in ("regressed", "improved", "unchanged") else None,
        "base_value": seconds if known else None,
        "head_value": seconds * (1 + (change or 0.0)) if known else None,
        "change": change,
        "low": change - 0.01 if change is not None else None,
        "high": change + 0.01 if change is not None else None,
        "smallest_visible": 0.013 if known else None,
        "pairs_needed": 60 if verdict == "inconclusive" else None,
        **fields,
    }


def comparison(cells: Sequence[Mapping[str, Any]] = (), **fields: Any) -> dict[str, Any]:
    """A document of `cells` with pairs that fit them, as the schema wants it."""
    document = unchecked(cells, **fields)
    check_comparison(document)
    return document


def unchecked(cells: Sequence[Mapping[str, Any]], **fields: Any) -> dict[str, Any]:
    """The same, for documents that take long to check."""
    return {
        "schema": "decider-comparison",
        "schema_version": 1,
        "made": "2026-11-30T12:00:00+00:00",
        "version": "0.1",
        "command": f"decider compare {OLDER[:12]} {COMMIT[:12]} --profile quick",
        "machine": "reference",
        "profile": "quick",
        "base": side("main", OLDER, torch="2.10"),
        "head": side("feature", COMMIT, torch="2.11"),
        "differs": [{"name": "torch", "base": "2.10", "head": "2.11"}],
        "design": {
            "margin": 0.02,
            "alarm_level": 0.01,
            "equivalence_level": 0.05,
            "looks": [10, 14, 20, 28, 40],
        },
        "looks_taken": [10, 14],
        "pairs": pairs(cells),
        "cells": list(cells),
        "control": cell("control", "unchanged", 0.001),
        "void": None,
        "summaries": [summary(cells)],
        "exact": exact(),
        "cost_model": cost_model(),
        "outcome": outcome(cells),
        "self_test": self_test(),
        "spent_seconds": 301.0,
        "budget_seconds": 600,
        **fields,
    }


def whole() -> dict[str, Any]:
    """A comparison with every verdict, over the grid and the planner."""
    changes = {(8, 256): 0.052, (8, 512): 0.12, (4, 512): 0.031, (1, 64): -0.024, (1, 128): -0.15}
    cells = []
    for batch in BATCHES:
        for length in LENGTHS:
            change = changes.get((batch, length), 0.001)
            verdict = "unchanged" if change == 0.001 else "regressed" if change > 0 else "improved"
            cells.append(cell(f"forward/{batch}x{length}", verdict, change))
    cells[4] = cell("forward/2x64", "inconclusive", 0.011, low=-0.02, high=0.05)
    cells[5] = cell("forward/2x128", "failed", reason="head: out of memory")
    cells[6] = cell("forward/2x256", "not comparable", reason="base has no such cell")
    cells[7] = cell("forward/2x512", "inconclusive", 0.3, low=None, high=None, pairs_needed=None)
    for mix in ("short", "decision"):
        for rows in ("8", "32"):
            for cost in ("linear", "ladder"):
                verdict = "regressed" if (mix, rows) == ("short", "8") else "unchanged"
                cells.append(cell(f"plan/{mix}/{rows}/{cost}", verdict, 0.08 if rows == "8" else 0))
    document = comparison(cells)
    failure = {"arm": "head", "cell": "forward/2x128", "kind": "error", "message": "no memory"}
    document["pairs"][0]["failures"] = [failure]
    document["pairs"][1]["failures"] = [failure, failure | {"cell": None, "kind": "crash"}]
    return document


def empty() -> dict[str, Any]:
    """Nothing was measured: no pair, no cell."""
    return comparison(
        looks_taken=[],
        pairs=[],
        control=None,
        summaries=[],
        exact=None,
        cost_model=None,
        self_test=None,
        budget_seconds=None,
        differs=[],
        base=side("main", OLDER, None),
        head=side("feature", COMMIT, None),
        outcome=outcome((), "undecided", "Nothing was compared."),
    )


def one_sided() -> dict[str, Any]:
    """Head never started."""
    cells = [cell(f"forward/{b}x64", "failed", reason="head never started") for b in BATCHES]
    crash = {"arm": "head", "cell": None, "kind": "crash", "message": "ImportError: no torch"}
    tried = [pair(number, {}, complete=False) | {"failures": [crash]} for number in (1, 2)]
    return comparison(
        cells,
        pairs=tried,
        looks_taken=[],
        control=None,
        head=side("feature", COMMIT, None),
        exact=exact([]) | {"compared": 0, "only_base": 84, "notes": ["head never started"]},
        cost_model=cost_model() | {"head": None, "ratio": None, "excess": None},
        outcome=outcome(cells, "failed", "Head never started."),
    )


def all_failed() -> dict[str, Any]:
    """Every cell failed on both sides."""
    cells = [cell(f"forward/{b}x64", "failed", reason="both: no memory") for b in BATCHES]
    return comparison(cells, cost_model=None, outcome=outcome(cells, "failed", "All cells failed."))


def all_inconclusive() -> dict[str, Any]:
    """The noise was too great for any verdict."""
    cells = [
        cell(f"forward/{b}x64", "inconclusive", 0.01, low=-0.2, high=0.3, pairs_needed=400)
        for b in BATCHES
    ]
    return comparison(cells, outcome=outcome(cells, "undecided", "No cell was decided."))


def not_comparable() -> dict[str, Any]:
    """The sides measured different things."""
    why = "the grids differ"
    cells = [cell(f"forward/{b}x64", "not comparable", reason=why) for b in BATCHES]
    return comparison(cells, outcome=outcome(cells, "not comparable", "No cell could be compared."))


def void() -> dict[str, Any]:
    """A run whose control moved."""
    document = whole()
    document["void"] = "the control changed by +4.0%: the machine was not quiet"
    document["outcome"] |= {"name": "void", "exit_status": 2, "sentence": "No verdict counts."}
    return document


def large(rows: int = 40, columns: int = 50, count: int = 40) -> dict[str, Any]:
    """A comparison of a great grid, 2,000 cells by default, with as many pairs as are planned.

    Its sums of exact figures are as many as real ones, and all of them changed.
    """
    verdicts = ("regressed", "improved", "unchanged", "inconclusive")
    cells = [
        cell(f"forward/{batch}x{64 * length}", verdicts[(batch + length) % 4], change)
        for batch in range(1, rows + 1)
        for length in range(1, columns + 1)
        for change in [round(math.sin(batch * 50 + length) / 20, 6)]
    ]
    groups = product(range(7), (8, 32, 128, 1024), ("linear", "ladder", "measured"))
    totals = [
        line
        for mix, queue, model in groups
        for line in plan_totals(f"mix {mix}, {queue} rows, {model}", cost=1_900.0, overhead=550.0)
    ]
    return unchecked(
        cells,
        pairs=pairs(cells, count),
        looks_taken=[10, 14, 20, 28, 40],
        exact=exact() | {"totals": totals},
    )
