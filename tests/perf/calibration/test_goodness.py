"""Where a line is the truth nothing is found; where it is not, what and where is said."""

import numpy as np
import pytest
from scipy import stats

from decider.grid import CPU_GRID, BucketGrid, Shape
from decider.perf.calibration.goodness import FORMS, LINE, goodness, held_out_errors, lack_of_fit
from decider.perf.calibration.measurement import measurement
from decider.perf.calibration.replication import replicates
from decider.perf.calibration.simulation import knee, rows, squared
from tests.perf.calibration.measurements import PER_TOKEN, noisy, on_a_line

HINGE = FORMS[-1].name


def test_the_f_test_is_the_textbook_one():
    """Two formulas of one statistic: the extra sum of squares of a mean for each cell."""
    random = np.random.default_rng(2)
    lengths = (64, 128, 192, 256, 320)
    values = np.array([[1 + t / 64] for t in lengths]) * np.exp(0.001 * random.normal(size=(5, 6)))
    values /= np.exp(np.log(values).mean(axis=0))  # levelled already, as nearly as makes no odds
    cells = {
        Shape(1, t): tuple((ms,) for ms in row)
        for t, row in zip(lengths, values.tolist(), strict=True)
    }
    samples = replicates(measurement(cells, "test"))
    measured = np.array([[block[0] for block in blocks] for blocks in samples.blocks])
    relative = measured / measured.mean(axis=1, keepdims=True)
    terms = np.repeat(
        np.stack([np.ones(5), np.array(lengths)], axis=1) / measured.mean(axis=1)[:, None],
        6,
        axis=0,
    )
    coefficients, *_ = np.linalg.lstsq(terms, relative.ravel(), rcond=None)
    reduced = ((relative.ravel() - terms @ coefficients) ** 2).sum()
    full = ((relative - relative.mean(axis=1, keepdims=True)) ** 2).sum()
    freedom = 5 * 5 - 5
    f = (reduced - full) / 3 / (full / freedom)
    found = lack_of_fit(samples)
    assert found.test == "F"
    assert found.statistic == pytest.approx(f)
    assert found.p == pytest.approx(stats.f.sf(f, 3, freedom))


def test_a_true_line_is_found_lacking_about_once_in_a_hundred_times():
    """60 grids, level 1%: at most 4 alarms, which chance exceeds less than once in 2,000 times."""
    alarms = sum(lack_of_fit(replicates(noisy(seed, drift=0.03))).found for seed in range(60))
    assert alarms <= 4
    assert stats.binom.sf(4, 60, 0.01) < 1 / 2_000


@pytest.mark.parametrize("work", [knee, squared, rows])
def test_a_truth_that_is_no_line_is_found(work):
    grid = BucketGrid() if work is squared else CPU_GRID
    assert all(
        lack_of_fit(replicates(noisy(seed, work=work, grid=grid))).found for seed in range(5)
    )


def test_cells_measured_once_are_tested_against_their_neighbours():
    random = np.random.default_rng(0)
    lengths = range(64, 64 * 60, 64)

    def found(bend):
        cells = {
            Shape(1, t): ((PER_TOKEN * (667 + t + bend * t**2) * (1 + 0.01 * random.normal()),),)
            for t in lengths
        }
        return lack_of_fit(replicates(measurement(cells, "test")))

    assert found(1e-4).test == "von Neumann"
    assert found(1e-4).found
    assert sum(found(0.0).found for _ in range(60)) <= 4


def test_the_neighbour_test_is_uniform_where_the_line_is_true():
    random = np.random.default_rng(4)
    p = []
    for _ in range(200):
        cells = {
            Shape(1, t): ((PER_TOKEN * (667 + t) * (1 + 0.01 * random.normal()),),)
            for t in range(64, 64 * 60, 64)
        }
        p.append(lack_of_fit(replicates(measurement(cells, "test"))).p)
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_an_exact_line_lacks_nothing():
    assert not goodness(replicates(on_a_line(667))).misfit
    assert not goodness(replicates(on_a_line(667, blocks=4))).misfit


def test_few_cells_measured_once_are_not_tested():
    shapes = [shape for shape in CPU_GRID.shapes if shape.batch == 1][:6]
    assert lack_of_fit(replicates(on_a_line(667, shapes))) is None


def test_the_worst_cell_is_named_with_its_sign():
    cells = {
        shape: ((PER_TOKEN * (667 + shape.batch * shape.length),),) for shape in CPU_GRID.shapes
    }
    cells[Shape(4, 256)] = ((2 * cells[Shape(4, 256)][0][0],),)
    well = goodness(replicates(measurement(cells, "test")))
    assert well.worst_shape == (4, 256)
    assert well.worst_error == pytest.approx(-0.5, abs=0.05)


def test_bands_cover_every_cell_once_and_in_order():
    well = goodness(replicates(noisy()))
    assert sum(band.cells for band in well.bands) == 43
    edges = [edge for band in well.bands for edge in (band.smallest, band.largest)]
    assert edges == sorted(edges)


def test_the_band_with_the_misfit_is_named():
    well = goodness(replicates(noisy(work=knee, grid=BucketGrid())))
    assert well.worst_band.largest <= 512


@pytest.mark.parametrize(
    ("work", "form"), [(knee, HINGE), (squared, FORMS[2].name), (rows, FORMS[1].name)]
)
def test_the_form_that_is_true_predicts_held_out_cells_best(work, form):
    assert goodness(replicates(noisy(3, work=work, grid=BucketGrid()))).best_form == form


def test_where_the_line_is_true_it_is_the_simplest_of_the_good():
    assert all(goodness(replicates(noisy(seed))).best_form == LINE.name for seed in range(5))


def test_held_out_cells_are_predicted_from_the_others_alone():
    """A cell that only one fold holds out cannot help to predict itself."""
    cells = [shape for shape in CPU_GRID.shapes if shape.batch <= 4]
    milliseconds = np.array([PER_TOKEN * (667 + s.batch * s.length) for s in cells])
    exact = {one.form: one for one in held_out_errors(cells, milliseconds)}[LINE.name]
    assert exact.error == pytest.approx(0, abs=1e-9)
    milliseconds[[s.batch == 4 for s in cells]] *= 2
    spoilt = {one.form: one for one in held_out_errors(cells, milliseconds)}[LINE.name]
    assert spoilt.by_kind["batch bucket"] > 0.2


def test_nothing_is_held_out_of_a_grid_too_small_for_it():
    assert list(held_out_errors([Shape(1, 64), Shape(1, 128)], np.array([1.0, 2.0]))) == []


def test_many_length_buckets_are_held_out_in_groups():
    shapes = [Shape(1, t) for t in range(1, 300)]
    milliseconds = np.array([PER_TOKEN * (667 + s.length) for s in shapes])
    found = list(held_out_errors(shapes, milliseconds))
    assert [one.form for one in found] == [form.name for form in FORMS]
    assert set(found[0].by_kind) == {"length bucket"}
