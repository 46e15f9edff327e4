"""Percentiles: right values, intervals that keep their promise, silence where a sample is small."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.serve.percentiles import MINIMUM_VALUES, percentiles, rank_interval


def chance_below(count: int, share: float, most: int) -> float:
    """The chance that at most `most` of `count` values are below the quantile, term by term."""
    terms = (math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(most + 1))
    return math.fsum(terms)


@given(count=st.integers(1, 400), share=st.sampled_from([0.05, 0.5, 0.9, 0.95, 0.99]))
def test_ranks_are_the_narrowest_pair_that_misses_at_most_2_5_percent_a_side(count, share):
    ranks = rank_interval(count, share)
    if ranks is None:
        assert max(share**count, (1 - share) ** count) > 0.025 * (1 - 1e-9)
        return
    low, high = ranks
    slack = 1e-9
    assert chance_below(count, share, low - 1) <= 0.025 + slack
    assert chance_below(count, share, low) > 0.025 - slack
    assert chance_below(count, share, high - 1) >= 0.975 - slack
    assert chance_below(count, share, high - 2) < 0.975 + slack


@pytest.mark.parametrize(("share", "least"), [(0.5, 6), (0.95, 72), (0.99, 368), (0.999, 3_688)])
def test_a_percentile_needs_so_many_independent_values(share, least):
    assert rank_interval(least - 1, share) is None
    assert rank_interval(least, share) is not None


@given(st.lists(st.floats(0, 1e6), min_size=MINIMUM_VALUES, max_size=300))
def test_values_are_order_statistics_and_lie_in_their_intervals(values):
    for found in percentiles(values):
        at_most = sum(value <= found.value for value in values)
        below = sum(value < found.value for value in values)
        assert at_most >= found.percent / 100 * len(values) - 1e-6
        assert below < found.percent / 100 * len(values)
        assert found.interval[0] <= found.value <= found.interval[1]
        assert set(found.interval) <= set(values)
        assert found.independent <= len(values)


def test_what_a_sample_cannot_support_is_left_out():
    values = np.random.default_rng(0).exponential(size=5_000)
    assert [p.percent for p in percentiles(values[:39])] == []
    assert [p.percent for p in percentiles(values[:60], [50, 99])] == [50]
    assert [p.percent for p in percentiles(values)] == [50, 90, 95, 99, 99.9]


def autoregressive(generator: np.random.Generator, count: int, memory: float) -> np.ndarray:
    noise = generator.normal(size=count) * math.sqrt(1 - memory**2)
    values = [generator.normal()]
    for step in noise[1:]:
        values.append(memory * values[-1] + step)
    return np.array(values)


@pytest.mark.parametrize("memory", [0.0, 0.9])
def test_intervals_hold_the_truth_about_as_often_as_they_say_even_in_a_queue(memory):
    generator = np.random.default_rng(7)
    samples = [autoregressive(generator, 2_000, memory) for _ in range(200)]
    for percent, truth in ((50.0, 0.0), (95.0, 1.6448536269514722)):
        low, high = rank_interval(2_000, percent / 100)
        hits = naive_hits = 0
        for sample in samples:
            (found,) = percentiles(sample, [percent])
            hits += found.interval[0] <= truth <= found.interval[1]
            ordered = np.sort(sample)
            naive_hits += ordered[low - 1] <= truth <= ordered[high - 1]
        assert hits >= 0.9 * len(samples)
        assert hits >= naive_hits
        assert memory == 0 or naive_hits < 0.7 * len(samples)


def test_dependence_lowers_what_the_values_tell():
    generator = np.random.default_rng(3)
    (alone,) = percentiles(generator.normal(size=4_000), [50])
    (queued,) = percentiles(autoregressive(generator, 4_000, 0.95), [50])
    assert queued.independent < alone.independent / 5
    assert queued.interval[1] - queued.interval[0] > 2 * (alone.interval[1] - alone.interval[0])


@pytest.mark.parametrize("percent", [0, 100, -1, math.nan])
def test_a_bad_percentage_is_named(percent):
    with pytest.raises(ValueError, match=f"percentile {percent}"):
        percentiles([1.0] * 50, [percent])


def test_a_value_that_is_not_finite_is_named():
    with pytest.raises(ValueError, match="nan"):
        percentiles([1.0] * 50 + [math.nan])
