"""Interleaved rounds: every policy in turn under every load, again and again, in one process.

A machine that slows down slows all policies of the round, so ratios within a round hold where the
times themselves do not. Odd rounds run the policies backwards, against a drift within the round.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.policies import PER_BUCKET
from benchmarks.scenarios import CAPACITY_LOAD, LOADS, OPEN_SHARE
from benchmarks.serving import Run, Server

Key = tuple[str, str, str]
"""Mix, load, policy."""

Runs = dict[Key, list[Run]]


async def one_round(
    server: Server,
    policies: Mapping[str, Any],
    rows: Mapping[tuple[str, str], Sequence[Any]],
    *,
    backwards: bool = False,
    finished: Callable[[Key, Run], None] = lambda _, __: None,
) -> dict[Key, Run]:
    """Each policy once under each load.

    Args:
        rows: by mix and load; loads that are missing are left out. An open loop needs the mix's
            `CAPACITY_LOAD` before it: its rate is a share of what per-bucket achieved there.
        finished: called after each run.
    """
    runs: dict[Key, Run] = {}
    names = list(policies)[:: -1 if backwards else 1]
    for (mix, load), sent in rows.items():
        rate = 0.0
        if not LOADS[load].clients:
            capacity = runs[mix, CAPACITY_LOAD, PER_BUCKET].served
            rate = OPEN_SHARE * len(capacity.latencies) / capacity.seconds
        for name in names:
            key = mix, load, name
            runs[key] = await server.run(policies[name], load, sent, rate)
            finished(key, runs[key])
    return runs


async def rounds(
    run_round: Callable[[bool], Any],
    *,
    most: int,
    budget_seconds: float = math.inf,
    clock: Callable[[], float] = time.perf_counter,
) -> Runs:
    """Rounds until there are `most`, or another would not fit the budget; at least one.

    Args:
        run_round: given whether the policies run backwards, awaits a round.
        budget_seconds: from now on.
    """
    runs: Runs = {}
    start = clock()
    longest = 0.0
    for number in range(most):
        began = clock()
        if number and began - start + longest > budget_seconds:
            break
        for key, run in (await run_round(number % 2 == 1)).items():
            runs.setdefault(key, []).append(run)
        longest = max(longest, clock() - began)
    return runs


def ratios(
    runs: Mapping[Key, Sequence[Run]],
    key: Key,
    seconds: Callable[[Run], float] = lambda run: run.served.seconds,
) -> list[float]:
    """Seconds of a policy over those of per-bucket under the same load, round by round.

    Args:
        seconds: which seconds of a run; by default those that passed.
    """
    mix, load, _ = key
    pairs = zip(runs[key], runs[mix, load, PER_BUCKET], strict=True)
    return [seconds(run) / seconds(base) for run, base in pairs]


def latencies(runs: Iterable[Run]) -> list[float]:
    """Of all rounds together, in seconds."""
    return [latency for run in runs for latency in run.served.latencies]
