"""The results of `python -m benchmarks.end_to_end` as plain JSON values and as markdown tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.intervals import MINIMUM_VALUES, estimate
from benchmarks.machine import Machine
from benchmarks.policies import overhead_tokens
from benchmarks.promises import Promise
from benchmarks.rounds import Key, Runs, ratios
from benchmarks.serving import SPENT, Run

SCHEMA = "decider.end_to_end/1"
PYTHON = "Python"
PARTS = {
    "engine": "engine",
    "handover": "hand-over",
    "planner": "planner",
    "window": "window",
    "idle": "idle",
    PYTHON: PYTHON,
}
"""Headings of the parts of the elapsed time. Python is what the statistics do not name: the event
loop, collecting, answering and the clients."""


def document(
    command: str,
    profile: str,
    machine: Machine,
    runs: Runs,
    promised: Mapping[Key, Promise],
) -> dict[str, Any]:
    """Everything measured, as plain JSON values."""
    return {
        "schema": SCHEMA,
        "command": command,
        "profile": profile,
        "environment": dict(machine.environment),
        "overhead_tokens": overhead_tokens(machine.milliseconds),
        "cells": [[*shape, ms] for shape, ms in machine.milliseconds.items()],
        "policies": [_entry(runs, key, promised[key]) for key in runs],
    }


def _entry(runs: Runs, key: Key, promise: Promise) -> dict[str, Any]:
    mix, load, policy = key
    of_key = runs[key]
    throughput = [1 / ratio for ratio in ratios(runs, key)]
    work = [1 / ratio for ratio in ratios(runs, key, lambda run: run.processor_seconds)]
    return {
        "mix": mix,
        "load": load,
        "policy": policy,
        "rows_per_round": len(of_key[0].served.latencies),
        "seconds": [run.served.seconds for run in of_key],
        "forwards": [run.forwards for run in of_key],
        "padded_tokens_per_real_token": median(
            run.padded_tokens / run.real_tokens for run in of_key
        ),
        "throughput_over_per_bucket": _estimated(throughput),
        "rows_per_processor_second_over_per_bucket": _estimated(work),
        "priced": promise.priced,
        "replayed": promise.replayed,
        "shares": _shares(of_key),
    }


def _estimated(rounds: Sequence[float]) -> dict[str, Any]:
    found = estimate(rounds)
    return {"rounds": list(rounds), "median": found.median, "interval": list(found.interval)}


def _shares(runs: Sequence[Run]) -> dict[str, float]:
    elapsed = sum(run.served.seconds for run in runs)
    shares = {name: sum(run.spent[name] for run in runs) / elapsed for name in SPENT}
    return shares | {PYTHON: max(0.0, 1 - sum(shares.values()))}


def tables(found: Mapping[str, Any]) -> str:
    """Both tables in markdown, with what they were measured on."""
    return "\n".join(_lines(found))


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    entries = found["policies"]
    rounds = len(entries[0]["seconds"])
    bounds = "95% interval" if rounds >= MINIMUM_VALUES else "lowest to highest round"
    environment = found["environment"]
    yield (
        f"{environment['cpu']}, {environment['threads']} thread, torch {environment['torch']}, "
        f"commit {(environment['commit'] or 'unknown')[:12]}; {rounds} interleaved rounds; "
        f"overhead derived here: {found['overhead_tokens']:.0f} token-units; `{found['command']}`"
    )
    yield ""
    yield "Throughput over that of per-bucket grouping:"
    yield ""
    yield (
        f"| mix | clients | policy | priced | replayed | delivered | {bounds} "
        f"| by processor time | {bounds} |"
    )
    yield "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for entry in entries:
        delivered = _shown(entry["throughput_over_per_bucket"])
        work = _shown(entry["rows_per_processor_second_over_per_bucket"])
        promised = f"{entry['priced']:.3f} | {entry['replayed']:.3f}"
        yield f"| {_place(entry)} | {promised} | {delivered} | {work} |"
    yield ""
    yield "Where the time goes, in percent of the elapsed time:"
    yield ""
    headings = " | ".join(PARTS.values())
    yield f"| mix | clients | policy | rows/s | forwards/1,000 rows | {headings} |"
    yield "| --- | ---: | --- | ---: | ---: |" + " ---: |" * len(PARTS)
    for entry in entries:
        rows = entry["rows_per_round"]
        shares = " | ".join(f"{100 * entry['shares'][part]:.2f}" for part in PARTS)
        yield (
            f"| {_place(entry)} | {rows / median(entry['seconds']):.2f} "
            f"| {1_000 * median(entry['forwards']) / rows:.0f} | {shares} |"
        )


def virtual_table(found: Mapping[Key, Mapping[str, Sequence[float]]], rows: int) -> str:
    """Figures of one round in virtual time, of `rows` rows each, as a table in markdown."""
    lines = [
        f"{rows:,} rows each in virtual time; `python -m benchmarks.end_to_end --virtual`",
        "",
        "| mix | load | policy | rows/s | over per-bucket | p50, s | p95, s | p99, s "
        "| forwards/1,000 rows | padded/real tokens |",
        "| --- | --- | --- |" + " ---: |" * 7,
    ]
    for key, figures in found.items():
        value = {name: samples[0] for name, samples in figures.items() if samples}
        times = " | ".join(f"{value[name]:.3f}" for name in ("p50", "p95", "p99"))
        lines.append(
            f"| {' | '.join(key)} | {1_000 / value['seconds_per_1000_rows']:.2f} "
            f"| {1 / value['seconds_over_per_bucket']:.3f} | {times} "
            f"| {value['forwards_per_1000_rows']:.0f} "
            f"| {value['padded_tokens_per_real_token']:.3f} |"
        )
    return "\n".join(lines)


def _shown(ratio: Mapping[str, Any]) -> str:
    low, high = ratio["interval"]
    return f"{ratio['median']:.3f} | {low:.3f} to {high:.3f}"


def _place(entry: Mapping[str, Any]) -> str:
    return f"{entry['mix']} | {entry['load'].split()[-1]} | {entry['policy']}"
