"""The fit beside a search of all lines, and its interval beside known truths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.grid import CPU_GRID, BucketGrid, Shape
from decider.perf.calibration.fit import (
    fit_line,
    fit_nonnegative,
    overhead_interval,
    overheads,
    run_overheads,
)
from decider.perf.calibration.measurement import combined
from decider.perf.calibration.replication import replicates
from tests.perf.calibration.measurements import noisy, on_a_line

sizes = st.lists(st.integers(1, 40_000), min_size=2, max_size=12, unique=True)
times = st.floats(0.05, 500)


def loss(fixed, per_token, tokens, milliseconds):
    return float((((fixed + per_token * tokens) / milliseconds - 1) ** 2).sum())


@given(tokens=sizes, data=st.data())
def test_no_line_of_a_search_fits_better(tokens, data):
    tokens = np.array(tokens, dtype=float)
    milliseconds = np.array(data.draw(st.lists(times, min_size=len(tokens), max_size=len(tokens))))
    line = fit_line(tokens, milliseconds)
    assert line.fixed >= 0
    assert line.per_token >= 0
    found = loss(line.fixed, line.per_token, tokens, milliseconds)
    for fixed in np.linspace(0, milliseconds.max(), 30):
        for per_token in np.linspace(0, (milliseconds / tokens).max(), 30):
            assert found <= loss(fixed, per_token, tokens, milliseconds) * (1 + 1e-9) + 1e-12


@given(tokens=sizes, data=st.data())
def test_many_fits_at_once_equal_single_ones(tokens, data):
    tokens = np.array(tokens, dtype=float)
    rows = st.lists(times, min_size=len(tokens), max_size=len(tokens))
    milliseconds = np.array(data.draw(st.lists(rows, min_size=1, max_size=4)))
    for row, overhead in zip(milliseconds, overheads(tokens, milliseconds), strict=True):
        line = fit_line(tokens, row)
        if line.per_token * tokens.max() < 1e-6 * line.fixed:
            assert overhead > 1e5 * tokens.max()
        else:
            assert overhead == pytest.approx(line.overhead, rel=1e-5, abs=1e-5 * tokens.max())


def test_the_published_ladder_summary_gives_667():
    """9.20 ms + 13.80 µs per token, single rows."""
    tokens = np.array([shape.length for shape in CPU_GRID.shapes if shape.batch == 1], dtype=float)
    assert round(fit_line(tokens, 9.20 + 0.01380 * tokens).overhead) == 667


@given(overhead=st.floats(1, 5_000))
def test_an_exact_line_is_found(overhead):
    samples = replicates(on_a_line(overhead))
    assert fit_line(samples.tokens, samples.medians).overhead == pytest.approx(overhead)


def test_a_falling_line_ends_at_the_bound():
    line = fit_line(np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0]))
    assert line.per_token == 0
    assert line.overhead == float("inf")


def test_terms_of_different_magnitude_are_all_found():
    terms = np.array([[1.0, 1e9, 1.0], [1.0, 3e9, 9.0], [1.0, 5e9, 2.0], [1.0, 7e9, 7.0]])
    truth = np.array([2.0, 3e-9, 0.5])
    assert fit_nonnegative(terms, terms @ truth) == pytest.approx(truth)


def test_weighing_by_time_halves_the_error_of_plain_least_squares():
    """Median error over 30 grids of 89 shapes at 3% noise, both fitted to the same cells."""
    errors = []
    for seed in range(30):
        samples = replicates(noisy(seed, noise=0.03, grid=BucketGrid()))
        slope, intercept = np.polyfit(samples.tokens, samples.medians, 1)
        weighted = fit_line(samples.tokens, samples.medians).overhead
        errors.append((abs(intercept / slope / 667 - 1), abs(weighted / 667 - 1)))
    plain, weighted = np.median(errors, axis=0)
    assert weighted < plain / 2


def test_one_run_is_resampled_by_its_blocks():
    interval = overhead_interval(replicates(noisy()), np.random.default_rng(0))
    assert interval.unit == "block"
    assert interval.count == 8
    assert interval.low < 667 < interval.high
    assert interval.high / interval.low < 1.05


def test_two_runs_are_resampled_by_run():
    pair = replicates(noisy(processes=2, process_noise=0.02))
    interval = overhead_interval(pair, np.random.default_rng(0))
    assert (interval.unit, interval.count) == ("run", 2)


def test_from_three_runs_on_students_t_speaks():
    runs = [on_a_line(overhead, blocks=3) for overhead in (600, 660, 720)]
    samples = replicates(combined(runs))
    assert run_overheads(samples) == pytest.approx([600, 660, 720])
    interval = overhead_interval(samples, np.random.default_rng(0))
    assert (interval.unit, interval.count) == ("run", 3)
    logs = np.log([600, 660, 720])
    reach = 4.302653 * logs.std(ddof=1) / 3**0.5
    centre = fit_line(samples.tokens, samples.medians).overhead
    assert interval.high == pytest.approx(centre * np.exp(reach), rel=1e-6)
    assert interval.low == pytest.approx(centre * np.exp(-reach), rel=1e-6)


def test_a_run_without_fixed_cost_makes_the_interval_endless():
    runs = [on_a_line(overhead, blocks=3) for overhead in (0, 660, 720)]
    interval = overhead_interval(replicates(combined(runs)), np.random.default_rng(0))
    assert (interval.low, interval.high) == (0, float("inf"))
    assert set(interval.draws) <= set(run_overheads(replicates(combined(runs))))


def test_cells_measured_once_are_resampled_about_the_line():
    interval = overhead_interval(replicates(on_a_line(667)), np.random.default_rng(0))
    assert (interval.unit, interval.count) == ("cell", 43)
    assert interval.low == pytest.approx(667)
    assert interval.high == pytest.approx(667)


def test_cells_scattered_about_the_line_widen_the_interval():
    samples = replicates(noisy(process_noise=0.03))
    narrow, wide = (
        overhead_interval(samples, np.random.default_rng(0), scattered=scattered)
        for scattered in (False, True)
    )
    assert wide.unit == "cell"
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)


def test_the_same_seed_gives_the_same_interval():
    samples = replicates(noisy())
    first, second = (overhead_interval(samples, np.random.default_rng(5)) for _ in range(2))
    assert (first.low, first.high) == (second.low, second.high)


def test_shapes_of_one_size_weigh_alike():
    """B and T count only through B*T: cells of one size are replicates of each other."""
    shapes = [Shape(1, 256), Shape(4, 64), Shape(1, 1024), Shape(8, 128)]
    samples = replicates(on_a_line(100, shapes))
    assert fit_line(samples.tokens, samples.medians).overhead == pytest.approx(100)
