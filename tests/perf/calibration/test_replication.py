"""Medians, levelled blocks and their bootstrap, each beside a plain computation of the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.mstats import hdquantiles

from decider.grid import BucketGrid, Shape
from decider.perf.calibration.measurement import combined, measurement
from decider.perf.calibration.replication import replicates, smooth_median

GRID = BucketGrid((64, 128, 192, 256), (1,), 1)
times = st.floats(0.1, 1e3)


def measured(blocks_by_length):
    cells = {Shape(1, length): blocks for length, blocks in blocks_by_length.items()}
    return measurement(cells, "test", grid=GRID)


@given(samples=st.lists(times, min_size=2, max_size=40))
def test_the_smooth_median_is_scipys(samples):
    assert smooth_median(samples) == pytest.approx(float(hdquantiles(samples, [0.5])[0]), rel=1e-9)


@given(value=times, count=st.integers(1, 50))
def test_the_smooth_median_of_equal_samples_is_theirs(value, count):
    assert smooth_median([value] * count) == pytest.approx(value)


def test_slow_outliers_do_not_move_the_smooth_median():
    samples = [1.0] * 30 + [100.0]
    assert smooth_median(samples) == pytest.approx(1.0, abs=1e-6)


@given(factors=st.lists(st.floats(0.5, 2), min_size=3, max_size=6))
def test_what_a_whole_block_shares_is_divided_out(factors):
    truth = {64: 1.0, 128: 2.0, 192: 2.5, 256: 4.0}
    blocks = {length: tuple((ms * f, ms * f) for f in factors) for length, ms in truth.items()}
    medians = replicates(measured(blocks)).medians
    assert medians / medians[0] == pytest.approx([1.0, 2.0, 2.5, 4.0])


def test_a_cell_that_stopped_before_the_machine_slowed_compares_with_the_others():
    factors = (1.0, 1.0, 1.0, 1.5, 1.5, 1.5, 1.5)
    blocks = {
        64: tuple((1.0 * f,) for f in factors[:2]),
        128: tuple((2.0 * f,) for f in factors),
        192: tuple((3.0 * f,) for f in factors),
    }
    medians = replicates(measured(blocks)).medians
    assert medians / medians[0] == pytest.approx([1, 2, 3])


def test_one_slow_cell_does_not_level_the_others():
    blocks = {64: ((1.0,), (9.0,)), 128: ((2.0,), (2.0,)), 192: ((3.0,), (3.0,))}
    levelled = replicates(measured(blocks)).blocks
    assert levelled[1] == ([2.0], [2.0])


def test_the_units_of_one_run_are_its_blocks_and_of_several_the_runs():
    one = measured({64: ((1.0, 1.0), (1.0,)), 128: ((2.0, 2.0), (2.0,))})
    assert [len(units) for units in replicates(one).units] == [2, 2]
    three = replicates(combined([one, one, one]))
    assert [len(units) for units in three.units] == [3, 3]
    assert sorted(three.units[1][0]) == [2.0, 2.0, 2.0]
    assert three.run_numbers == [0, 1, 2]


def test_a_run_by_itself_has_only_the_cells_it_measured():
    first, second = measured({64: ((1.0,),), 128: ((2.0,),)}), measured({64: ((1.0,),)})
    own = replicates(combined([first, second])).of_run(1)
    assert own.shapes == ((1, 64),)


def test_a_cell_with_one_unit_keeps_its_median():
    samples = replicates(measured({64: ((1.0, 3.0, 2.0),), 128: ((2.0,),)}))
    drawn = samples.resampled_medians(5, np.random.default_rng(0))
    assert drawn[:, 0] == pytest.approx([samples.medians[0]] * 5)


def test_bootstrap_medians_are_those_of_the_blocks_drawn():
    random = np.random.default_rng(3)
    blocks = {64: tuple(map(tuple, random.uniform(1, 2, (4, 3)).tolist()))}
    samples = replicates(measured(blocks))
    drawn = samples.resampled_medians(50, np.random.default_rng(8))[:, 0]
    taken = np.random.default_rng(8).multinomial(3, [0.25] * 4, size=50)
    slowly = [
        smooth_median(
            [ms for block, n in zip(samples.units[0], row, strict=True) for ms in block * n]
        )
        for row in taken.tolist()
    ]
    assert drawn == pytest.approx(slowly, rel=1e-3)


def test_the_bootstrap_spreads_as_much_as_medians_do():
    """Over 400 cells of 8 blocks of 4: the mean bootstrap variance within 15% of the true one."""
    random = np.random.default_rng(1)
    grid = BucketGrid(tuple(range(1, 401)), (1,), 1)
    draws = 1 + 0.01 * random.standard_normal((400, 8, 4))
    cells = {
        Shape(1, row + 1): tuple(map(tuple, blocks)) for row, blocks in enumerate(draws.tolist())
    }
    samples = replicates(measurement(cells, "test", grid=grid))
    spread = samples.resampled_medians(300, random).var(axis=0, ddof=1).mean()
    assert spread == pytest.approx(samples.medians.var(ddof=1), rel=0.15)
