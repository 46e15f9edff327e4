"""Steps: what is proposed by asv's detector and kept by a test."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from decider.perf.history.steps import (
    CLIPPED,
    LEAST_NEWEST,
    LEAST_STRETCH,
    LEVEL,
    Step,
    Values,
    _Test,
    chance_of,
    find_steps,
    median,
    noise_of_differences,
    propose_steps,
)

numbers = st.lists(st.floats(-100, 100), min_size=3, max_size=12)


def _noise(seed: int, count: int) -> Values:
    return np.random.default_rng(seed).standard_normal(count)


def _found(values: Values) -> list[int]:
    return [step.index for step in find_steps(values, propose_steps(values))]


def _best_segmentation(values: Values, steps: int) -> list[int]:
    """The oracle: of all places of so many steps, those with the least sum of squares."""

    def squares(places: tuple[int, ...]) -> float:
        parts = (values[a:b] for a, b in pairwise([0, *places, len(values)]))
        return sum(((part - part.mean()) ** 2).sum() for part in parts)

    allowed = (
        places
        for places in combinations(range(LEAST_STRETCH, len(values) - LEAST_NEWEST + 1), steps)
        if all(b - a >= LEAST_STRETCH for a, b in pairwise([0, *places]))
    )
    return list(min(allowed, key=squares))


@pytest.mark.parametrize("seed", range(20))
def test_clear_steps_are_where_the_best_segmentation_of_all_has_them(seed: int) -> None:
    values = _noise(seed, 26)
    values[9:] += 12
    values[18:] -= 20
    assert _found(values) == _best_segmentation(values, 2)


@pytest.mark.parametrize("after", [3, 4, 5])
def test_a_large_step_is_found_three_values_after_it(after: int) -> None:
    values = _noise(1, 40)
    values[-after:] += 12
    assert _found(values) == [40 - after]


@pytest.mark.parametrize("after", [1, 2])
def test_less_than_three_values_at_the_end_are_no_step(after: int) -> None:
    values = _noise(1, 40)
    values[-after:] += 100
    assert _found(values) == []


def test_an_excursion_of_four_values_is_no_step_and_one_of_five_is_two() -> None:
    values = _noise(2, 60)
    values[30:34] += 15
    assert _found(values) == []
    values[34] += 15
    assert _found(values) == [30, 35]


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_too_few_values_have_no_step(count: int) -> None:
    assert _found(np.arange(count, dtype=float) ** 3) == []


def test_values_that_are_all_equal_have_no_step_however_many() -> None:
    assert _found(np.full(200, 0.1)) == []


def test_a_spike_on_equal_values_is_no_step_and_a_new_level_is_one() -> None:
    values = np.full(60, 0.1)
    values[[20, 58]] = 7.0
    assert _found(values) == []
    values[50:] = 0.2
    assert _found(values) == [50]


@given(numbers, numbers)
def test_without_clipping_the_chance_is_that_of_students_test(
    left: list[float], right: list[float]
) -> None:
    before, after = np.array(left), np.array(right)
    both = np.concatenate([before, after])
    spread = 1.4826 * np.median(np.abs(both - np.median(both)))
    clipped = np.clip(both, np.median(both) - CLIPPED * spread, np.median(both) + CLIPPED * spread)
    if spread < 1e-6 or np.ptp(clipped[: len(before)]) < 1e-6:
        return
    expected = stats.ttest_ind(clipped[: len(before)], clipped[len(before) :]).pvalue
    assert chance_of(before, after) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_the_chance_hardly_feels_how_far_a_spike_is_out() -> None:
    before, after = _noise(3, 30), _noise(4, 30)
    after[7] = 10
    assert chance_of(before, after) == pytest.approx(
        chance_of(before, np.where(after == 10, 1e9, after))
    )


def test_correlated_noise_makes_a_difference_less_sure() -> None:
    before, after = _noise(5, 30), _noise(6, 30) + 1
    assert chance_of(before, after, 0.5) > 10 * chance_of(before, after)


def test_mostly_equal_values_are_counted() -> None:
    before, after = np.zeros(20), np.array([0, 0, 1.0, 1.0])
    above = stats.fisher_exact([[0, 20], [2, 2]]).pvalue
    assert chance_of(before, after) == pytest.approx(2 * above)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_the_median_is_numpys(values: list[float]) -> None:
    assert median(np.array(values)) == pytest.approx(float(np.median(values)))


def test_the_noise_is_told_from_neighbours_whatever_the_steps() -> None:
    values = _noise(7, 2_000)
    values[700:] += 50
    assert noise_of_differences(values) == pytest.approx(1, rel=0.1)


@given(
    values=st.lists(st.sampled_from([1.0, 1.01, 1.02, 1.1, 1.5]), min_size=8, max_size=60),
    places=st.sets(st.integers(1, 59), max_size=10),
)
def test_the_steps_are_those_of_judging_all_bounds_anew_each_time(
    values: list[float], places: set[int]
) -> None:
    array = np.array(values)
    proposed = sorted(place for place in places if place < len(values))
    bounds, test = [0, *proposed, len(values)], _Test(array, 0.0)
    expected: list[Step] = []
    while len(bounds) > 2:
        weakness = [test.weakness(bounds, k) for k in range(1, len(bounds) - 1)]
        if max(weakness) < (False, LEVEL):
            expected = [Step(at, w[1]) for at, w in zip(bounds[1:-1], weakness, strict=True)]
            break
        del bounds[1 + weakness.index(max(weakness))]
    assert find_steps(array, proposed) == expected
