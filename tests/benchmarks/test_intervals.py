"""The interval of a median against slow counts of what it covers."""

from __future__ import annotations

import itertools
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.intervals import MINIMUM_VALUES, estimate, median_ranks


def coverage(count: int, low: int, high: int) -> float:
    """How often ranks low and high enclose the median: every pattern of below and above, counted.

    With `below` values under the median it lies between ranks below - 1 and below.
    """
    patterns = itertools.product((0, 1), repeat=count)
    return sum(low < sum(pattern) <= high for pattern in patterns) / 2**count


@pytest.mark.parametrize("count", range(MINIMUM_VALUES, 15))
def test_the_ranks_are_the_narrowest_that_cover_the_median_95_times_in_100(count: int) -> None:
    low, high = median_ranks(count)
    assert coverage(count, low, high) >= 0.95 > coverage(count, low + 1, high - 1)


@pytest.mark.parametrize("count", range(1, MINIMUM_VALUES))
def test_too_few_values_give_their_range_though_it_covers_less(count: int) -> None:
    assert median_ranks(count) == (0, count - 1)
    assert coverage(count, 0, count - 1) < 0.95


def test_textbook_ranks() -> None:
    # Conover, table of confidence limits for the median: n = 10, 20 and 30
    assert [median_ranks(n) for n in (10, 20, 30)] == [(1, 8), (5, 14), (9, 20)]


def test_a_huge_number_of_values_is_no_trouble() -> None:
    low, high = median_ranks(20_000)
    assert low + high == 19_999
    assert high - low == pytest.approx(1.96 * 20_000**0.5, rel=0.01)


def test_no_values_have_no_median() -> None:
    with pytest.raises(ValueError, match="no values"):
        estimate([])


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=60), st.randoms())
def test_the_interval_holds_the_median_and_ignores_the_order(
    values: list[float], generator: object
) -> None:
    found = estimate(values)
    low, high = found.interval
    assert low <= found.median == median(values) <= high
    assert found.half_width == pytest.approx((high - low) / 2 / found.median)
    shuffled = list(values)
    generator.shuffle(shuffled)  # type: ignore[attr-defined]
    assert estimate(shuffled) == found
