"""Parts of the comparisons in `comparisons`, each as the schema wants it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from decider.perf.comparison.document import VERDICTS
from tests.perf.report.results import OLDER

BATCHES = (1, 2, 4, 8)
LENGTHS = (64, 128, 256, 512)
PAIRS = 14


def exact(changes: Sequence[Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """Exact figures of which one rose and one fell, unless `changes` says otherwise."""
    known = [
        {"figure": "cost", "queue": "decision, 32 rows, ladder", "base": 1000.0, "head": 1010.0},
        {"figure": "forwards", "queue": "short, 8 rows, linear", "base": 4.0, "head": 3.0},
    ]
    changes = known if changes is None else changes
    rises = sum(change["head"] > change["base"] for change in changes)
    totals = [
        {"figure": "cost", "group": "decision, 32 rows, ladder", "base": 9e4, "head": 9.1e4},
        {"figure": "cost", "group": "short, 8 rows, linear", "base": 500.0, "head": 500.0},
        *plan_totals("chat, 128 rows, ladder"),
    ]
    return {
        "compared": 1_234,
        "rises": rises,
        "falls": len(changes) - rises,
        "changes": list(changes),
        "totals": totals if changes else totals[1:],
        "only_base": 0,
        "only_head": 0,
        "notes": [],
    }


def plan_totals(group: str, **head: float) -> list[dict[str, Any]]:
    """The sums of a group of queues; head's are base's where `head` does not say otherwise."""
    sums = {
        "cost": 1_800.0,
        "per-bucket cost": 2_000.0,
        "forwards": 4.0,
        "real tokens": 1_000.0,
        "length rounding": 200.0,
        "co batch padding": 50.0,
        "empty rows": 100.0,
        "overhead": 450.0,
    }
    return [
        {"figure": name, "group": group, "base": value, "head": head.get(name, value)}
        for name, value in sums.items()
    ]


def cost_model() -> dict[str, Any]:
    """Two lines, and a drift of the overhead."""
    return {
        "base": line(500.0),
        "head": line(550.0),
        "ratio": 1.1,
        "ratio_low": 1.02,
        "ratio_high": 1.19,
        "constant": 512,
        "excess": 0.0031,
        "notes": ["the intervals are over 14 pairs"],
    }


def outcome(
    cells: Sequence[Mapping[str, Any]], name: str = "regression", sentence: str = ""
) -> dict[str, Any]:
    """An outcome with the counts of `cells`."""
    found = counts(cells)
    return {
        "name": name,
        "exit_status": {"nothing worse": 0, "regression": 1}.get(name, 2),
        "sentence": sentence or f"{found['regressed']} of {len(cells)} cells regressed.",
        "counts": found,
    }


def counts(cells: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Cells by verdict."""
    return {verdict: sum(c["verdict"] == verdict for c in cells) for verdict in VERDICTS}


def summary(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The summary of the whole suite."""
    return {
        "benchmark": None,
        "cells": len(cells),
        "counts": counts(cells),
        "geometric_mean": 0.012,
        "weighted_mean": None,
        "weights": None,
        "worst": cells[0]["id"] if cells else None,
    }


def self_test(**fields: Any) -> dict[str, Any]:
    """The record of a self-test without a false alarm."""
    return {
        "schema": "decider-self-test",
        "schema_version": 1,
        "made": "2026-11-29T12:00:00+00:00",
        "machine": "reference",
        "commit": OLDER,
        "profile": "quick",
        "command": "decider compare --self-test",
        "confidence": 0.95,
        "unchanged": {"runs": 20, "alarms": 0, "low": 0.0, "high": 0.139},
        "delayed": {"delay": 0.05, "runs": 10, "found": 10, "low": 0.741, "high": 1.0},
        "smallest_visible": {},
        **fields,
    }


def pairs(cells: Sequence[Mapping[str, Any]], count: int = PAIRS) -> list[dict[str, Any]]:
    """Pairs whose log-ratios scatter about each cell's change."""
    found = []
    for number in range(1, count + 1):
        samples = {
            one["id"]: {
                "log_ratio": math.log1p(one["change"]) + 0.01 * math.sin(37 * number + place),
                "repeats": 5,
                "base": [[0.01, 0.011]],
                "head": [[0.01, 0.011]],
            }
            for place, one in enumerate(cells)
            if one["change"] is not None and one["change"] > -1
        }
        found.append(pair(number, samples))
    return found


def pair(number: int, samples: Mapping[str, Any], *, complete: bool = True) -> dict[str, Any]:
    """One pair with its samples by cell."""
    return {
        "number": number,
        "first": "base" if number % 2 else "head",
        "complete": complete,
        "seconds": 21.5,
        "samples": dict(samples),
        "failures": [],
    }


def side(name: str, commit: str, torch: str | None) -> dict[str, Any]:
    """A side; without torch no process of it ever started."""
    return {
        "name": name,
        "commit": commit,
        "subject": f"Change {name}",
        "date": "2026-11-28T12:00:00+00:00",
        "environment": {}
        if torch is None
        else {"machine": "reference", "cpu": "A CPU"} | {"torch": torch, "num_cpu": 2, "gpu": None},
    }


def line(overhead: float) -> dict[str, Any]:
    """A line of 4 us a token through every shape."""
    slope = 4e-6
    return {
        "overhead": overhead,
        "low": overhead - 40,
        "high": overhead + 40,
        "fixed_seconds": slope * overhead,
        "seconds_per_token": slope,
        "cells": [
            {"batch": b, "length": t, "seconds": slope * (overhead + b * t)}
            for b in BATCHES
            for t in LENGTHS
        ],
    }
