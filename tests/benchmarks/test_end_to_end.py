"""What asv reads: figures of runs, percentiles that the rows support, and what is skipped."""

from __future__ import annotations

import inspect
import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import end_to_end
from benchmarks.clients import Served
from benchmarks.end_to_end import EndToEnd, EndToEndVirtual, figures, virtual_runs
from benchmarks.policies import NAMES, PER_BUCKET
from benchmarks.scenarios import LOADS, MIXES
from benchmarks.serving import Run

LADDER = ("short", "closed 8", "ladder")


def run(seconds: float, rows: int = 10) -> Run:
    latencies = [seconds * (k + 1) / rows for k in range(rows)]
    spent = {"engine": 0.75 * seconds}
    return Run(Served(seconds, latencies), seconds, 4, 300, 200, spent)


def readings(benchmark: type) -> list[str]:
    return [name for name in dir(benchmark) if name.startswith("track_")]


def test_figures_of_runs():
    runs = {("short", "closed 8", PER_BUCKET): [run(2), run(4)], LADDER: [run(1), run(3)]}
    found = figures(runs)[LADDER]
    assert found["seconds_per_1000_rows"] == [100, 300]
    assert found["seconds_over_per_bucket"] == [0.5, 0.75]
    assert found["forwards_per_1000_rows"] == [400, 400]
    assert found["padded_tokens_per_real_token"] == [1.5, 1.5]
    assert found["seconds_outside_engine_per_1000_rows"] == [25, 75]
    assert found["p50"] == [0.8]  # of the latencies of both rounds together
    assert found["p95"] == found["p99"] == []


@given(st.integers(1, 1_000), st.sampled_from(end_to_end.PERCENTS))
def test_a_percentile_is_one_of_the_values_or_nothing_where_they_are_too_few(count, percent):
    found = end_to_end._percentile([float(k) for k in range(1, count + 1)], percent)
    enough = {50: 6, 95: 72, 99: 368}[percent]
    assert len(found) == (count >= enough)
    if found:
        assert percent / 100 * count <= found[0] < percent / 100 * count + 1


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("benchmark_class", [EndToEnd, EndToEndVirtual])
def test_every_reading_reads_every_key_and_skips_what_has_no_value(benchmark_class, exact):
    runs = {key: [run(2)] for key in product(MIXES, LOADS, NAMES)}
    results = {"skip": None, "exact": exact, "figures": figures(runs)}
    benchmark = benchmark_class()
    assert list(benchmark.params) == [list(MIXES), list(LOADS), list(NAMES)]
    for key in product(*benchmark.params):
        benchmark.setup(results, *key)
        for name in readings(benchmark_class):
            reading = getattr(benchmark, name)
            if "p95" in name or "p99" in name:
                assert math.isnan(reading(results, *key))
            else:
                value = reading(results, *key)
                assert isinstance(value, float) if exact else len(value["samples"]) == 1
            assert reading.unit in ("seconds", "ratio", "forwards")


def test_a_commit_without_a_server_is_skipped_with_the_reason():
    with pytest.raises(NotImplementedError, match="no batcher"):
        EndToEnd().setup({"skip": "no batcher", "figures": {}}, *LADDER)


def test_each_benchmark_has_a_cache_of_its_own_with_a_time_limit():
    """asv tells caches apart by file and line."""
    lines = {inspect.getsourcelines(one.setup_cache)[1] for one in (EndToEnd, EndToEndVirtual)}
    assert len(lines) == 2
    assert EndToEnd.setup_cache.timeout > end_to_end.BUDGET_S
    assert EndToEnd.version != EndToEndVirtual.version


def test_the_budget_is_a_number_of_seconds():
    assert end_to_end.budget_seconds({}) == 90
    assert end_to_end.budget_seconds({"DECIDER_BENCH_SERVING_SECONDS": "600"}) == 600
    for bad in ("", "long", "-1", "nan"):
        with pytest.raises(ValueError, match="DECIDER_BENCH_SERVING_SECONDS"):
            end_to_end.budget_seconds({"DECIDER_BENCH_SERVING_SECONDS": bad})


def test_virtual_figures_are_exact_and_rank_the_policies():
    first, second = (figures(virtual_runs(96)) for _ in range(2))
    assert list(first) == list(product(MIXES, LOADS, NAMES))
    for key in first:
        exact = {name for name in first[key] if "outside" not in name}
        assert {name: first[key][name] for name in exact} == {
            name: second[key][name] for name in exact
        }
    for mix in MIXES:
        (ratio,) = first[mix, "closed 64", "ladder"]["seconds_over_per_bucket"]
        assert ratio < 1
        assert first[mix, "closed 64", PER_BUCKET]["seconds_over_per_bucket"] == [1]
        assert first[mix, "closed 1", "ladder"]["forwards_per_1000_rows"] == [1_000]
