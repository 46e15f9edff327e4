"""In which commits a step lies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.perf.history.places import CONFIDENCE, place_of_step
from decider.perf.history.steps import CLIPPED, deviation


def _weights(values: np.ndarray, step: int) -> list[float]:
    """The oracle: what each place is worth, written out."""
    left, right = np.median(values[:step]), np.median(values[step:])
    rest = np.concatenate([values[:step] - left, values[step:] - right])
    spread = deviation(rest, 0.0)

    def loss(value: float, level: float) -> float:
        size = abs(value - level) / spread
        return size**2 / 2 if size < CLIPPED else CLIPPED * size - CLIPPED**2 / 2

    totals = [
        sum(loss(v, left) for v in values[:k]) + sum(loss(v, right) for v in values[k:])
        for k in range(1, len(values))
    ]
    weights = [math.exp(min(totals) - total) for total in totals]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("seed", range(30))
def test_the_range_holds_the_likeliest_place_and_just_enough_of_all(seed: int) -> None:
    values = np.random.default_rng(seed).standard_normal(30)
    values[20:] += 1.5
    weights = _weights(values, 20)
    place = place_of_step(values, 20)
    assert weights[place.most_likely - 1] == pytest.approx(max(weights))
    assert place.first <= place.most_likely <= place.last
    held = weights[place.first - 1 : place.last]
    assert sum(held) >= CONFIDENCE - 1e-9
    assert sum(held) - min(held[0], held[-1]) < CONFIDENCE or len(held) == 1


def test_a_large_step_is_in_one_place_though_found_beside_it() -> None:
    values = np.random.default_rng(0).standard_normal(40)
    values[25:] += 30
    for beside in (23, 25, 26):
        place = place_of_step(values, beside)
        assert (place.first, place.most_likely, place.last) == (25, 25, 25)


def test_values_without_noise_have_one_place() -> None:
    place = place_of_step(np.array([1.0] * 7 + [2.0] * 3), 7)
    assert (place.first, place.most_likely, place.last) == (7, 7, 7)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20), st.data())
def test_the_range_is_within_the_values(values: list[float], data: st.DataObject) -> None:
    step = data.draw(st.integers(1, len(values) - 1))
    place = place_of_step(np.array(values), step)
    assert 1 <= place.first <= place.most_likely <= place.last <= len(values) - 1
