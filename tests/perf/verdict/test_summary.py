"""One figure for many cells."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.perf.verdict.summary import geometric_mean_change, weighted_change, worst_cell


def test_the_geometric_mean_of_a_doubling_and_a_halving_is_no_change():
    assert geometric_mean_change([1.0, -0.5]) == pytest.approx(0)


def test_cells_without_a_change_are_left_out():
    assert geometric_mean_change([0.1, None, math.nan]) == pytest.approx(0.1)
    assert geometric_mean_change([None]) is None
    assert geometric_mean_change([]) is None


@given(st.lists(st.floats(-0.9, 5), min_size=1, max_size=20))
def test_the_geometric_mean_is_the_root_of_the_product(changes):
    product = math.prod(1 + change for change in changes)
    assert geometric_mean_change(changes) == pytest.approx(
        product ** (1 / len(changes)) - 1, abs=1e-9
    )


def test_the_weighted_change_is_that_of_the_total_time():
    """10 runs of 1 s that take twice as long, 1 run of 30 s that takes a third less."""
    found = weighted_change({"a": 1.0, "b": -1 / 3}, {"a": 1.0, "b": 30.0}, {"a": 10, "b": 1})
    assert found.change == pytest.approx((20 + 20) / (10 + 30) - 1)
    assert found.covered == 1


def test_traffic_in_cells_that_were_not_measured_is_said_not_to_be_covered():
    found = weighted_change({"a": 0.5, "b": None}, {"a": 2.0}, {"a": 1, "b": 2, "c": 1})
    assert found.change == pytest.approx(0.5)
    assert found.covered == 0.25


@pytest.mark.parametrize("weights", [{}, {"a": 0.0}, {"b": 1.0}])
def test_no_traffic_in_measured_cells_has_no_change(weights):
    found = weighted_change({"a": 0.5}, {"a": 2.0}, weights)
    assert found.change is None
    assert found.covered == 0


@pytest.mark.parametrize(
    ("change", "value", "weight", "message"),
    [
        (0.1, 1.0, -1.0, "a: a weight must be at least 0, not -1.0"),
        (0.1, 1.0, math.nan, "a: a weight must be at least 0, not nan"),
        (0.1, 0.0, 1.0, "a: a time must be above 0, not 0.0"),
        (-1.0, 1.0, 1.0, "a change must be above -1, not -1.0"),
    ],
)
def test_impossible_values_are_refused(change, value, weight, message):
    with pytest.raises(ValueError, match=message):
        weighted_change({"a": change}, {"a": value}, {"a": weight})


def test_an_impossible_change_has_no_mean():
    with pytest.raises(ValueError, match="above -1, not -2"):
        geometric_mean_change([-2])


def test_the_worst_cell_has_the_largest_change():
    assert worst_cell({"a": -0.1, "b": 0.2, "c": None, "d": math.nan, "e": 0.2}) == "b"
    assert worst_cell({"a": -0.1, "b": -0.2}) == "a"
    assert worst_cell({"a": None}) is None
    assert worst_cell({}) is None
