"""Steps and drifts, told from slow noise."""

from __future__ import annotations

import numpy as np
import pytest

from decider.perf.history.detection import correlation_of, detect, levels_of
from decider.perf.history.drifts import Drift
from decider.perf.history.simulation import correlated
from decider.perf.history.steps import Step, find_steps, propose_steps


def test_correlation_is_numpys_where_nothing_is_clipped() -> None:
    noise = np.tile([1.0, 0.5, -1.0, -0.5], 25)
    expected = (noise[1:] @ noise[:-1]) / (noise @ noise)
    assert correlation_of(noise) == pytest.approx(expected)


def test_spikes_are_not_taken_for_independent_noise() -> None:
    noise = correlated(0.8)(np.random.default_rng(0), 400)
    spiked = noise.copy()
    spiked[::50] += 100
    assert correlation_of(spiked) == pytest.approx(correlation_of(noise), abs=0.2)


def test_equal_values_have_no_correlation() -> None:
    assert correlation_of(np.zeros(10)) == 0


def test_levels_follow_steps_and_drifts() -> None:
    values = np.array([1.0] * 5 + [3.0] * 5 + [4.0, 5.0, 6.0] + [6.0] * 4)
    found = [Step(5, 0.0), Drift(9, 12, 3.0, 6.0)]
    assert levels_of(found, values) == pytest.approx(values)


def test_slow_noise_gives_fewer_steps_than_without_allowing_for_it() -> None:
    naive = careful = 0
    for seed in range(60):
        values = correlated(0.6)(np.random.default_rng(seed), 100)
        naive += bool(find_steps(values, propose_steps(values)))
        careful += bool(detect(values))
    assert careful < naive / 2


def test_a_large_step_is_found_in_slow_noise() -> None:
    values = correlated(0.5)(np.random.default_rng(3), 100)
    values[60:] += 8
    assert 60 in [one.index for one in detect(values) if isinstance(one, Step)]
