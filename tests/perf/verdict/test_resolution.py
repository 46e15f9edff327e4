"""What so many pairs can tell, by textbook formulas and by trying."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from decider.perf.verdict import resolution
from tests.perf.verdict import oracle

VALUES = st.lists(st.floats(-1, 1), min_size=3, max_size=12).filter(lambda v: np.std(v) > 1e-3)


@given(VALUES, st.floats(0.1, 5))
def test_the_half_width_is_where_the_statistic_reaches_its_limit(values, limit):
    found = resolution.half_widths(
        np.array([np.std(values)]), np.array([float(len(values))]), np.array([limit])
    )[0]
    bounds = oracle.interval(values, limit)
    if bounds is None:
        assert found > 1e3
    else:
        assert found == pytest.approx((bounds[1] - bounds[0]) / 2, rel=1e-6, abs=1e-9)


@given(VALUES)
def test_student_s_t_is_a_function_of_the_statistic(values):
    t = float(stats.ttest_1samp(values, 0).statistic)
    assert resolution.as_student(abs(oracle.statistic(values)), len(values)) == pytest.approx(
        abs(t), rel=1e-6, abs=1e-9
    )
    assert resolution.as_statistic(np.array([abs(t)]), np.array([float(len(values))]))[
        0
    ] == pytest.approx(abs(oracle.statistic(values)), rel=1e-6, abs=1e-9)


def test_at_student_s_quantile_the_interval_is_student_s():
    values = np.random.default_rng(1).normal(0.3, 1, 15)
    number = np.array([15.0])
    limit = resolution.as_statistic(resolution.student_quantile(0.005, number), number)
    found = resolution.half_widths(np.array([values.std()]), number, limit)[0]
    low, high = stats.t.interval(0.99, 14, values.mean(), stats.sem(values))
    assert found == pytest.approx((high - low) / 2)


def test_one_value_bounds_nothing():
    one = np.array([1.0])
    assert resolution.student_quantile(0.01, one)[0] == math.inf
    limit = resolution.as_statistic(np.array([math.inf]), one)
    assert resolution.half_widths(np.array([0.0]), one, limit)[0] == math.inf
    assert resolution.as_student(1.0, 1) == math.inf
    assert resolution.smallest_visible(0.1, 0.0, 1) is None


@given(st.floats(1e-6, 0.3), st.integers(2, 60))
def test_the_tail_undoes_the_quantile(tail, count):
    quantile = float(resolution.student_quantile(tail, np.array([count]))[0])
    assert resolution.student_tail(quantile, count) == pytest.approx(tail, rel=1e-5)


def test_the_smallest_visible_change_is_found_nine_times_in_ten():
    """Of means about it, nine in ten lie above the half-width."""
    visible = resolution.smallest_visible(0.01, 0.02, 26)
    above = stats.norm.sf(0.01, loc=math.log1p(visible), scale=0.02 / 5)
    assert above == pytest.approx(0.9)


def test_an_unbounded_interval_shows_no_change_however_large():
    assert resolution.smallest_visible(math.inf, 0.02, 26) is None
    assert resolution.smallest_visible(1e4, 0.02, 26) is None


@given(
    st.floats(-0.05, 0.05),
    st.floats(0, 0.1),
    st.integers(2, 40),
    st.floats(1e-6, 0.01),
    st.floats(1e-4, 0.05),
)
def test_the_pairs_needed_are_the_fewest_that_decide(mean, spread, count, alarm, equivalence):
    def decides(number):
        error = spread * math.sqrt(count / (count - 1) / number)
        return (
            abs(mean) > error * stats.t.isf(alarm, number - 1)
            or abs(mean) + error * stats.t.isf(equivalence, number - 1) < 0.02
        )

    found = resolution.pairs_needed(
        mean, spread, count, margin=0.02, alarm_tail=alarm, equivalence_tail=equivalence, fewest=10
    )
    if found is None:
        assert not decides(1_000)
    else:
        assert found > count
        assert found >= 10
        assert decides(found)
        assert found == max(10, count + 1) or not decides(found - 1)


def test_nothing_is_predicted_from_one_value():
    known = {"margin": 0.02, "alarm_tail": 0.01, "equivalence_tail": 0.01, "fewest": 5}
    assert resolution.pairs_needed(0.01, 0.0, 1, **known) is None
    assert resolution.pairs_needed(0.01, 0.0, 2, **known) == 5
