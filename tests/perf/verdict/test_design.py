"""A design that cannot be carried out is refused, and the looks share the levels equally."""

import math

import pytest

from decider.perf.verdict.design import Design


def test_the_looks_share_the_levels():
    design = Design(alarm_level=0.01, equivalence_level=0.05, looks=(5, 10, 20, 30))
    assert design.alarm_level_of_a_look == 0.0025
    assert design.equivalence_level_of_a_look == 0.0125


def test_the_margin_is_a_ratio():
    assert math.exp(Design(margin=0.02).log_margin) == pytest.approx(1.02)


@pytest.mark.parametrize("field", ["margin", "alarm_level", "equivalence_level"])
@pytest.mark.parametrize("value", [0, -0.01, 1, 1.5, math.nan, math.inf])
def test_a_level_or_margin_outside_0_to_1_is_refused(field, value):
    with pytest.raises(ValueError, match=f"{field} must be above 0 and below 1, not"):
        Design(**{field: value})


@pytest.mark.parametrize(
    ("looks", "message"),
    [
        ((), "at least one number of pairs"),
        ((10, 10), "10 stands after 10"),
        ((10, 5), "5 stands after 10"),
        ((0, 5), "not 0"),
        ((2.5,), "not 2.5"),
        ((True,), "not True"),
    ],
)
def test_looks_that_do_not_rise_are_refused(looks, message):
    with pytest.raises(ValueError, match=f"looks must.*{message}"):
        Design(looks=looks)


@pytest.mark.parametrize("taken", [(), (10,), (10, 14), (10, 14, 17), (12,), (10, 14, 20, 28, 40)])
def test_a_run_may_look_where_its_time_is_over(taken):
    assert Design().check_looks_taken(list(taken)) == taken


def test_a_run_cannot_look_more_often_than_planned():
    with pytest.raises(ValueError, match="3 looks taken and 2 planned"):
        Design(looks=(10, 20)).check_looks_taken([10, 15, 20])


def test_looks_taken_that_do_not_rise_are_refused():
    with pytest.raises(ValueError, match="looks taken must rise: 10 stands after 14"):
        Design().check_looks_taken([14, 10])
