"""Which steps are one drift."""

from __future__ import annotations

import numpy as np
import pytest

from decider.perf.history.drifts import SHORTEST_DRIFT, Drift, fit_ramp, split_drifts
from decider.perf.history.steps import Step, Values


def _best_ramp(values: Values) -> tuple[int, int, float]:
    """The oracle: a regression on each ramp that there is."""
    best = (0, 0, np.inf)
    places = np.arange(len(values))
    for start in range(len(values)):
        for end in range(start + SHORTEST_DRIFT, len(values)):
            height = np.clip((places - start) / (end - start), 0, 1)
            design = np.column_stack([np.ones(len(values)), height])
            rest = values - design @ np.linalg.lstsq(design, values)[0]
            best = min(best, (start, end, float(rest @ rest)), key=lambda one: one[2])
    return best


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("size", [0.0, 3.0])
def test_the_ramp_is_the_best_of_all(seed: int, size: float) -> None:
    values = np.random.default_rng(seed).standard_normal(30) + 100
    values += size * np.clip((np.arange(30) - 8) / 14, 0, 1)
    fitted = fit_ramp(values)
    assert fitted is not None
    drift, squares = fitted
    start, end, expected = _best_ramp(values)
    assert squares == pytest.approx(expected, rel=1e-6)
    assert (drift.start, drift.end) == (start, end)


def test_levels_of_a_ramp_without_noise() -> None:
    values = 5 + 2 * np.clip((np.arange(40) - 10) / 20, 0, 1)
    fitted = fit_ramp(values)
    assert fitted is not None
    drift, squares = fitted
    assert (drift.start, drift.end) == (10, 30)
    assert (drift.before, drift.after) == pytest.approx((5, 7))
    assert squares == pytest.approx(0, abs=1e-9)


def test_too_few_values_have_no_ramp() -> None:
    assert fit_ramp(np.arange(SHORTEST_DRIFT, dtype=float)) is None


def test_a_long_stretch_is_fitted_on_a_coarser_raster() -> None:
    values = np.clip((np.arange(2_000) - 600) / 900, 0, 1)
    fitted = fit_ramp(values)
    assert fitted is not None
    assert fitted[0].start == pytest.approx(600, abs=10)
    assert fitted[0].end == pytest.approx(1_500, abs=10)


def test_a_staircase_over_a_drift_becomes_one_drift_with_the_clearest_chance() -> None:
    values = np.random.default_rng(3).normal(0, 0.2, 90)
    values += 3 * np.clip((np.arange(90) - 30) / 30, 0, 1)
    steps = [Step(37, 0.002), Step(46, 1e-6), Step(54, 0.001)]
    (found,) = split_drifts(values, steps)
    assert isinstance(found, Drift)
    assert found.start == pytest.approx(30, abs=4)
    assert found.end == pytest.approx(60, abs=4)
    assert found.chance == 1e-6


def test_real_steps_the_same_way_stay_steps() -> None:
    values = np.random.default_rng(3).normal(0, 0.2, 90)
    values[30:] += 2
    values[60:] += 2
    steps = [Step(30, 0.0), Step(60, 0.0)]
    assert split_drifts(values, steps) == steps


def test_a_step_before_a_drift_stays_a_step() -> None:
    values = np.random.default_rng(4).normal(0, 0.1, 120)
    values += 3 * np.clip((np.arange(120) - 70) / 30, 0, 1)
    values[25:] += 4
    step, drift = split_drifts(values, [Step(25, 0.0), Step(80, 0.0), Step(92, 0.0)])
    assert step == Step(25, 0.0)
    assert isinstance(drift, Drift)
    assert 60 <= drift.start < drift.end <= 105


def test_no_steps_no_drifts() -> None:
    assert split_drifts(np.arange(50, dtype=float), []) == []
