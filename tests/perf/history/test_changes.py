"""Changes in one series of values."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decider.perf.history import Change, find_changes


def _series(seed: int = 0, count: int = 80, noise: float = 0.01) -> list[float]:
    random = np.random.default_rng(seed)
    return list(2.0 * np.exp(noise * random.standard_normal(count)))


def _slower(values: list[float], begin: int, factor: float) -> list[float]:
    return [value * (factor if index >= begin else 1) for index, value in enumerate(values)]


def test_a_step_says_where_how_much_and_that_it_is_worse() -> None:
    (change,) = find_changes(_slower(_series(), 50, 1.1))
    assert change.kind == "step"
    assert (change.after, change.most_likely, change.index) == (49, 50, 50)
    assert change.before_value == pytest.approx(2.0, rel=0.01)
    assert change.after_value == pytest.approx(2.2, rel=0.01)
    assert change.change == pytest.approx(0.1, abs=0.01)
    assert change.worse
    assert 0 <= change.chance < 1e-6


def test_whether_it_is_worse_depends_on_what_is_better() -> None:
    slower, faster = _slower(_series(), 50, 1.1), _slower(_series(), 50, 0.9)
    assert [c.worse for c in find_changes(slower, higher_is_better=True)] == [False]
    assert [c.worse for c in find_changes(faster, higher_is_better=True)] == [True]
    assert [c.worse for c in find_changes(faster)] == [False]


def test_a_drift_says_from_where_to_where() -> None:
    values = [
        value * 1.005 ** min(max(0, index - 29), 30) for index, value in enumerate(_series(1, 90))
    ]
    (change,) = find_changes(values)
    assert change.kind == "drift"
    assert change.after == pytest.approx(29, abs=5)
    assert change.index == change.most_likely == pytest.approx(59, abs=5)
    assert change.change == pytest.approx(1.005**30 - 1, abs=0.02)
    assert change.worse


def test_values_beside_a_step_end_at_the_next_one() -> None:
    values = _slower(_slower(_series(), 30, 1.2), 60, 1 / 1.2)
    up, down = find_changes(values)
    assert (up.most_likely, up.worse, down.most_likely, down.worse) == (30, True, 60, False)
    assert up.after_value == down.before_value == pytest.approx(2.4, rel=0.01)
    assert down.after_value == pytest.approx(2.0, rel=0.01)


def test_values_that_are_missing_are_stepped_over_and_widen_the_range() -> None:
    values = _slower(_series(), 50, 1.1)
    values[48:51] = [math.nan, math.inf, math.nan]
    (change,) = find_changes(values)
    assert (change.after, change.index, change.most_likely) == (47, 51, 51)


def test_a_step_from_zero_has_no_relative_size() -> None:
    (change,) = find_changes([0.0] * 20 + [5.0] * 20)
    assert change.change == math.inf
    assert change.worse
    (change,) = find_changes([0.0] * 20 + [-5.0] * 20)
    assert change.change == -math.inf


def test_negative_values_change_in_proportion_to_their_size() -> None:
    values = [-value for value in _series()]
    (change,) = find_changes(_slower(values, 40, 1.5))
    assert change.change == pytest.approx(-0.5, abs=0.02)
    assert not change.worse


@pytest.mark.parametrize("values", [[], [1.0], [math.nan] * 50, [1.0] * 50, [0.0] * 50])
def test_there_may_be_nothing_to_find(values: list[float]) -> None:
    assert find_changes(values) == []
    assert find_changes(values, exact=True) == []


def test_every_difference_of_exact_values_is_a_step() -> None:
    values = [1.0, 1.0, math.nan, 1.0000000001, 1.0]
    found = find_changes(values, exact=True)
    assert [(c.after, c.index, c.worse) for c in found] == [(1, 3, True), (3, 4, False)]
    assert all(c.chance == 0 for c in found)


@given(st.integers(0, 50), st.sampled_from([1e-9, 1e-3, 1e6, 1e12]))
@settings(max_examples=20, deadline=None)
def test_the_unit_does_not_matter(seed: int, unit: float) -> None:
    values = _slower(_series(seed), 60, 1.03)
    found, scaled = find_changes(values), find_changes([unit * value for value in values])
    assert [_places(c) for c in found] == [_places(c) for c in scaled]
    assert [c.change for c in scaled] == pytest.approx([c.change for c in found])


@given(
    st.lists(
        st.floats(-1e100, 1e100) | st.sampled_from([0.0, 1.0, 5e-324, 1e-300, math.nan, math.inf]),
        max_size=60,
    ),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_whatever_the_values_changes_are_in_order_and_within_them(
    values: list[float], exact: bool
) -> None:
    found = find_changes(values, exact=exact)
    for change in found:
        assert 0 <= change.after < change.index < len(values)
        assert change.after < change.most_likely <= change.index
        assert math.isfinite(change.before_value)
        assert math.isfinite(change.after_value)
        assert 0 <= change.chance < 0.01
    assert [c.most_likely for c in found] == sorted({c.most_likely for c in found})


def _places(change: Change) -> tuple[str, int, int, int]:
    return change.kind, change.after, change.most_likely, change.index


def test_it_loads_no_torch() -> None:
    code = (
        "import sys; from decider.perf.history import find_changes; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
