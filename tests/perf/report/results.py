"""asv result folders made up for the tests: every benchmark that the report knows, and more."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

BATCHES = (1, 2, 4, 8)
LENGTHS = (64, 128, 256, 512, 1024)
TOKEN_BUDGET = 4_096
MIXES = ("short", "decision", "chat")
SIZES = (8, 128)
COSTS = ("linear", "ladder")
ROWS = (1, 8, 32)
COMMIT = "1a2b3c4d5e6f7081920a1b2c3d4e5f6071829304"
OLDER = "0f0e0d0c0b0a09080706050403020100f0e0d0c0"
COMMITTED_MS = 1_760_000_000_000

_COLUMNS = (
    *("result", "params", "version", "started_at", "duration"),
    *("stats_ci_99_a", "stats_ci_99_b", "stats_q_25", "stats_q_75", "samples"),
)


def write_results(
    folder: Path,
    *,
    machine: str = "reference",
    commit: str = COMMIT,
    committed_ms: int = COMMITTED_MS,
    slower: float = 1.0,
    benchmarks: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] | None = None,
    **params: str,
) -> Path:
    """Write one result file, its machine and its declarations; return the result file.

    Args:
        slower: every noisy time is multiplied by it.
        benchmarks: declaration and row by name; by default those of `every_benchmark`.
        params: what asv records of the environment besides the machine.
    """
    content = every_benchmark(slower) if benchmarks is None else benchmarks
    path = folder / f"machine{crc32(machine.encode())}" / f"{crc32(commit.encode())}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {"machine": machine, "cpu": "A CPU", "ram": "16777216000", "torch": "2.11.0"}
    values = {
        "commit_hash": commit,
        "env_name": "checkout",
        "date": committed_ms,
        "params": known | params,
        "python": "3.11",
        "requirements": {},
        "env_vars": {},
        "result_columns": list(_COLUMNS),
        "results": {
            name: [row.get(column) for column in _COLUMNS] for name, (_, row) in content.items()
        },
        "durations": {},
        "version": 2,
    }
    path.write_text(json.dumps(values), encoding="utf-8")
    (path.parent / "machine.json").write_text(json.dumps({"machine": machine}), encoding="utf-8")
    declared = {name: declaration for name, (declaration, _) in content.items()}
    (folder / "benchmarks.json").write_text(json.dumps(declared | {"version": 2}), encoding="utf-8")
    return path


def every_benchmark(slower: float = 1.0) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """A whole suite: forwards with skipped and failed cells, plans, planner and footprint."""
    found = {"forward.Forward.track_seconds": _forward_times(slower)}
    found["forward.Forward.track_microseconds_per_real_token"] = benchmark(
        {}, [sampled(slower * 9.75)], "microseconds"
    )
    plans = {"mix": MIXES, "rows": SIZES, "cost": COSTS}
    for name, scale in (
        *(("cost_over_per_bucket", 0.9), ("length_rounding", 0.3), ("co_batch_padding", 0.1)),
        *(("empty_rows", 0.07), ("overhead", 0.5), ("forwards", 4.0)),
    ):
        count = len(list(product(*plans.values())))
        values = [scale * (1 - number / 200) for number in range(count)]
        found[f"plans.Plans.track_{name}"] = benchmark(plans, values, "ratio")
    found["planner.Planning.time_plan"] = benchmark(
        {"mix": MIXES, "rows": ROWS, "cost": COSTS},
        [
            sampled(slower * 1e-5 * rows**0.5 * (1 + len(mix) / 10))
            for mix, rows, _ in product(MIXES, ROWS, COSTS)
        ],
        "seconds",
        kind="time",
    )
    found["planner.PlanningRatio.track_over_textbook"] = benchmark(
        {"rows": SIZES}, [sampled(0.7), sampled(0.3)], "ratio"
    )
    found["footprint.Footprint.track_import_seconds"] = benchmark({}, [sampled(0.1)], "seconds")
    found["footprint.Footprint.track_peak_bytes"] = benchmark({}, None, "bytes")
    found["something.unknown.track_it"] = benchmark({}, [3.0], "apples")
    return found


def end_to_end(slower: float = 1.0) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Two policies under two loads; the lightest load has too few rows for a 99th percentile."""
    axes = {"mix": ("short",), "load": ("closed 1", "closed 64"), "policy": ("window", "planned")}
    found = {}
    for name, noisy in (("EndToEnd", True), ("EndToEndVirtual", False)):
        slower = slower if noisy else 1.0
        seconds = [slower * second for second in (50.0, 48.0, 20.0, 16.0)]
        rates = [sampled(second) if noisy else second for second in seconds]
        waits = [math.nan, math.nan, slower * 0.8, slower * 0.6]
        medians = [slower * wait for wait in (0.05, 0.05, 0.4, 0.3)]
        prefix = f"end_to_end.{name}.track_"
        found[f"{prefix}seconds_per_1000_rows"] = benchmark(axes, rates, "seconds")
        found[f"{prefix}p99_latency"] = benchmark(axes, waits, "seconds")
        found[f"{prefix}p50_latency"] = benchmark(axes, medians, "seconds")
    return found


def benchmark(
    axes: Mapping[str, Sequence[Any]],
    entries: Sequence[float | dict[str, Any] | None] | None,
    unit: str,
    *,
    kind: str = "track",
    version: str = "1",
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A benchmark's declaration and its row: an entry a cell, or None for a failure as a whole."""
    texts = [[repr(value) for value in values] for values in axes.values()]
    declaration = {
        "param_names": list(axes),
        "params": texts,
        "type": kind,
        "unit": unit,
        "version": version,
    }
    row: dict[str, Any] = {"version": version, "started_at": COMMITTED_MS + 60_000, "params": []}
    if entries is None:
        return declaration, row
    full = [entry if isinstance(entry, dict) else {"result": entry} for entry in entries]
    row["params"] = texts
    for column in ("result", "samples", "stats_ci_99_a", "stats_ci_99_b"):
        values = [entry.get(column) for entry in full]
        if column == "result" or any(value is not None for value in values):
            row[column] = values
    return declaration, row


def sampled(value: float, count: int = 9) -> dict[str, Any]:
    """A cell with samples spread evenly, to 5% about `value`."""
    shares = [1 + 0.05 * (2 * number / (count - 1) - 1) for number in range(count)]
    return {
        "result": value,
        "samples": [value * share for share in shares],
        "stats_ci_99_a": 0.97 * value,
        "stats_ci_99_b": 1.03 * value,
    }


def _forward_times(slower: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """The line 2 ms + 4 us a token; shapes over the budget skipped, and one that failed."""
    cells: list[float | dict[str, Any] | None] = []
    for batch, length in product(BATCHES, LENGTHS):
        if batch > 1 and batch * length > TOKEN_BUDGET:
            cells.append(math.nan)
        elif (batch, length) == (2, 128):
            cells.append(None)
        else:
            cells.append(sampled(slower * (2e-3 + 4e-6 * batch * length)))
    return benchmark({"batch": BATCHES, "length": LENGTHS}, cells, "seconds")


def write_grid_file(path: Path, missing: Sequence[int] = ()) -> Path:
    """A grid file of single rows, complete but for the lengths `missing`, which it captures too."""
    cells = [
        {
            "batch": 1,
            "length": length,
            "milliseconds": 2 + 0.004 * length,
            "microseconds_per_padded_token": (2000 + 4 * length) / length,
            "microseconds_per_real_token": (2000 + 4 * length) / (0.75 * length),
            "blocks": [[2 + 0.004 * length] * 3] * 4,
        }
        for length in LENGTHS
        if length not in missing
    ]
    grid = {"length_buckets": [*LENGTHS], "batch_buckets": [1]}
    values = {
        "schema": "decider.grid/1",
        "profile": "cpu",
        "model": "a model",
        "grid": grid | {"token_budget": 1024, "long_step": 1024},
        "environment": {"machine": "reference", "commit": COMMIT},
        "timing": {"queueing": False},
        "complete": not missing,
        "cells": cells,
    }
    path.write_text(json.dumps(values), encoding="utf-8")
    return path
