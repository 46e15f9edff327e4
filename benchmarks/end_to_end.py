"""Throughput and latency of the batcher under load, policy by policy.

`EndToEnd` runs the real engine of the machine at hand; `EndToEndVirtual` puts the same kinds of
load to the batcher in virtual time, with forwards that take what a frozen table says, and its
figures are exact. Both measure everything in `setup_cache`; the `track_` methods only read it.
`python -m benchmarks.end_to_end` measures longer and prints the tables of docs/SERVING.md.
"""

from __future__ import annotations

import asyncio
import math
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from benchmarks import frozen_times
from benchmarks.policies import NAMES, policies
from benchmarks.profiles import CPU, SEED, chosen
from benchmarks.rounds import Runs, latencies, one_round, ratios, rounds
from benchmarks.scenarios import LOADS, MIXES, VERSION, row_lengths
from benchmarks.serving import length_rows, token_rows, virtual_server
from benchmarks.virtual_time import run_virtually

if __name__ == "__main__":  # before the lines below: they are asv's and read the environment
    from benchmarks.end_to_end_command import main

    sys.exit(main())

PROFILE = chosen()

BUDGET_VARIABLE = "DECIDER_BENCH_SERVING_SECONDS"
BUDGET_S = 90.0
MOST_ROUNDS = 50
VISITS = 3
VIRTUAL_ROWS = 1_000

PERCENTS = (50, 95, 99)

Results = dict[str, Any]
"""Figures by key; `skip` says why there are none, `exact` that they are not noisy samples."""

Reading = dict[str, Any] | float


class _Readings:
    """What is read of either benchmark; lower is better everywhere."""

    params = (list(MIXES), list(LOADS), list(NAMES))
    param_names = ("mix", "load", "policy")

    def setup(self, results: Results, *_: str) -> None:
        if results["skip"]:
            raise NotImplementedError(results["skip"])

    def track_seconds_per_1000_rows(self, results: Results, *key: str) -> Reading:
        return _samples(results, key, "seconds_per_1000_rows")

    def track_seconds_over_per_bucket(self, results: Results, *key: str) -> Reading:
        """Elapsed time over that of the per-bucket policy in the same round."""
        return _samples(results, key, "seconds_over_per_bucket")

    def track_p50_latency(self, results: Results, *key: str) -> Reading:
        return _samples(results, key, "p50")

    def track_p95_latency(self, results: Results, *key: str) -> Reading:
        return _samples(results, key, "p95")

    def track_p99_latency(self, results: Results, *key: str) -> Reading:
        return _samples(results, key, "p99")

    def track_forwards_per_1000_rows(self, results: Results, *key: str) -> Reading:
        return _samples(results, key, "forwards_per_1000_rows")

    def track_padded_tokens_per_real_token(self, results: Results, *key: str) -> Reading:
        return _samples(results, key, "padded_tokens_per_real_token")

    for _method in (
        *(track_seconds_per_1000_rows, track_p50_latency, track_p95_latency, track_p99_latency),
    ):
        _method.unit = "seconds"  # type: ignore[attr-defined]
    for _method in (track_seconds_over_per_bucket, track_padded_tokens_per_real_token):
        _method.unit = "ratio"  # type: ignore[attr-defined]
    track_forwards_per_1000_rows.unit = "forwards"  # type: ignore[attr-defined]
    del _method


class EndToEnd(_Readings):
    """On the real engine, in interleaved rounds. A sample is a round.

    `DECIDER_BENCH_SERVING_SECONDS` is how long the rounds may take with start-up and the measuring
    of forwards: one round always runs, more as the time allows. Percentiles are of all rounds
    together; one that so few rows cannot bound is not available.
    """

    version = VERSION

    def setup_cache(self) -> Results:
        """Figures of this commit; or why it is skipped."""
        from benchmarks.probes import EngineMissingError

        try:
            return asyncio.run(_measured(time.perf_counter()))
        except EngineMissingError as missing:
            return {"skip": str(missing), "figures": {}}

    setup_cache.timeout = 900  # type: ignore[attr-defined]

    def track_seconds_outside_engine_per_1000_rows(self, results: Results, *key: str) -> Reading:
        """Elapsed time that is no forward: planning, hand-over, windows, Python and waiting."""
        return _samples(results, key, "seconds_outside_engine_per_1000_rows")

    track_seconds_outside_engine_per_1000_rows.unit = "seconds"  # type: ignore[attr-defined]


class EndToEndVirtual(_Readings):
    """In virtual time: the same figures on every machine, so that any change is the code's."""

    version = f"{VERSION}-times{frozen_times.VERSION}"

    def setup_cache(self) -> Results:
        """Figures of this commit; or why it is skipped."""
        try:
            import decider.engine
            import decider.serve.batcher  # noqa: F401
        except ImportError as missing:
            return {"skip": f"this commit has no batcher: {missing}", "figures": {}}
        return {"skip": None, "exact": True, "figures": figures(virtual_runs(VIRTUAL_ROWS))}

    setup_cache.timeout = 300  # type: ignore[attr-defined]


def budget_seconds(environ: Mapping[str, str]) -> float:
    """How long `EndToEnd` may take, with start-up.

    Raises:
        ValueError: the variable is not a number of at least 0; the message names it.
    """
    text = environ.get(BUDGET_VARIABLE, str(BUDGET_S))
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise ValueError(f"{BUDGET_VARIABLE}={text!r}: give a number of seconds, such as 600")
    return seconds


async def _measured(started: float) -> Results:
    from benchmarks.machine import open_machine

    async with open_machine(PROFILE, SEED, visits=VISITS) as machine:
        compared = policies(machine.grid, machine.milliseconds)
        rows = {
            (mix, load): token_rows(
                row_lengths(mix, kind.rows, PROFILE.lengths[-1]), machine.vocabulary_size, SEED
            )
            for mix in MIXES
            for load, kind in LOADS.items()
        }
        budget = budget_seconds(os.environ)
        runs = await rounds(
            lambda backwards: one_round(machine.server, compared, rows, backwards=backwards),
            most=MOST_ROUNDS,
            budget_seconds=budget - (time.perf_counter() - started),
        )
    return {"skip": None, "exact": False, "figures": figures(runs)}


def virtual_runs(size: int) -> Runs:
    """One round in virtual time, of `size` rows each."""
    grid, times = CPU.grid(), frozen_times.frozen_times()
    rows = {
        (mix, load): length_rows(row_lengths(mix, size, CPU.lengths[-1]))
        for mix in MIXES
        for load in LOADS
    }
    server = virtual_server(grid, times.run_at)
    runs = run_virtually(one_round(server, policies(grid, times.planned_with), rows))
    return {key: [run] for key, run in runs.items()}


def figures(runs: Runs) -> dict[tuple[str, ...], dict[str, list[float]]]:
    """Samples by the name of the figure, for each mix, load and policy."""
    return {key: _figures(runs, key) for key in runs}


def _figures(runs: Runs, key: tuple[str, str, str]) -> dict[str, list[float]]:
    of_key = runs[key]
    waited = sorted(latencies(of_key))
    outside = [run.served.seconds - run.spent["engine"] for run in of_key]
    per_1000 = [1_000 / len(run.served.latencies) for run in of_key]
    return {
        "seconds_per_1000_rows": [run.served.seconds_per_1000_rows for run in of_key],
        "seconds_over_per_bucket": ratios(runs, key),
        "forwards_per_1000_rows": [
            run.forwards * share for run, share in zip(of_key, per_1000, strict=True)
        ],
        "padded_tokens_per_real_token": [run.padded_tokens / run.real_tokens for run in of_key],
        "seconds_outside_engine_per_1000_rows": [
            seconds * share for seconds, share in zip(outside, per_1000, strict=True)
        ],
        **{f"p{percent}": _percentile(waited, percent) for percent in PERCENTS},
    }


def _percentile(ordered: list[float], percent: int) -> list[float]:
    """The smallest value that `percent` of them do not exceed; nothing where they are too few.

    Enough are as many as have order statistics on both sides that bound it with 95% confidence.
    """
    count, share = len(ordered), percent / 100
    if max(share, 1 - share) ** count > 0.025:
        return []
    return [ordered[math.ceil(round(share * count, 9)) - 1]]


def _samples(results: Results, key: tuple[str, ...], name: str) -> Reading:
    samples: list[float] = results["figures"][key][name]
    if not samples:
        return math.nan  # asv's word for "not available"; only `setup` may skip by an exception
    if results["exact"]:
        return samples[0]
    return {"samples": samples, "number": 1}
