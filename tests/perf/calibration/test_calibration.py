"""The whole calibration, on known and on real data."""

from pathlib import Path

import numpy as np
import pytest

from decider.grid import CPU_GRID, Shape
from decider.perf.calibration.calibration import calibrate
from decider.perf.calibration.measurement import combined, measurement
from decider.perf.calibration.queues import queues_of_mixes
from decider.perf.calibration.simulation import knee
from decider.perf.calibration.sources import read_source
from tests.perf.calibration.measurements import noisy, on_a_line

VIDUR = Path(__file__).parents[4] / "shared" / "data" / "vidur_h100_llama2_7b_mlp.csv"
STRATA = queues_of_mixes(["short"], 4, 1024)


def test_a_clean_grid_gives_its_overhead_and_a_decision():
    found = calibrate(noisy(), STRATA)
    assert found.refusals == ()
    assert found.derived == pytest.approx(667, rel=0.02)
    assert found.whole.cells == 43
    assert found.single_rows.cells == 10
    assert found.decision.derived == found.derived
    assert not found.goodness.misfit
    assert len(found.table.cells) == 43


def test_the_published_single_row_summary_gives_667(tmp_path):
    path = tmp_path / "ladder.csv"
    lengths = [shape.length for shape in CPU_GRID.shapes if shape.batch == 1] + [4096, 8192]
    rows = [f"{n},{9.20 + 0.01380 * n:.6f}" for n in lengths]
    path.write_text("\n".join(["num_tokens,milliseconds", *rows]))
    found = calibrate(read_source(path), STRATA)
    assert found.derived == 667
    assert found.decision is None
    assert any("nothing to merge" in note for note in found.notes)


@pytest.mark.skipif(not VIDUR.exists(), reason="the Vidur profile is not in ../shared/data")
def test_the_vidur_profile_misfits_at_small_sizes_though_r_squared_hides_it():
    found = calibrate(read_source(VIDUR), [])
    tokens, times = np.array([(c.tokens, c.samples[0]) for c in found.measurement.cells]).T
    assert np.corrcoef(tokens, times)[0, 1] ** 2 > 0.99
    assert found.goodness.misfit
    assert found.goodness.worst_band.largest < 64
    assert found.goodness.worst_band.mean_error < -0.1
    assert abs(found.goodness.worst_error) > 0.15


def test_bad_times_stop_everything():
    cells = dict.fromkeys(CPU_GRID.shapes, ((1.0, 1.0),)) | {Shape(1, 64): ((-1.0,),)}
    found = calibrate(measurement(cells, "test", grid=CPU_GRID), STRATA)
    assert [refusal.code for refusal in found.refusals] == ["bad-time"]
    assert (found.derived, found.whole, found.table, found.decision) == (None,) * 4


def test_a_refused_fit_still_prices_the_table():
    few = [shape for shape in CPU_GRID.shapes if shape.length in (64, 1024)]
    found = calibrate(on_a_line(136, few), STRATA)
    found_codes = [refusal.code for refusal in found.refusals]
    assert found_codes == []
    bound = calibrate(on_a_line(0, CPU_GRID.shapes, grid=CPU_GRID), STRATA)
    assert [refusal.code for refusal in bound.refusals] == ["on-bound"]
    assert bound.derived is None
    assert bound.decision.derived is None
    assert bound.decision.recommendation.action == "table"


def test_cells_of_one_size_are_refused_without_a_line():
    shapes = [Shape(1, 1024), Shape(2, 512), Shape(4, 256)]
    found = calibrate(on_a_line(136, shapes), STRATA)
    assert found.refusals[0].code == "one-size"
    assert found.whole is None


def test_a_misfit_widens_the_interval_to_the_scatter_of_the_cells():
    found = calibrate(noisy(work=knee), [])
    assert found.goodness.misfit
    assert found.whole.interval.unit == "cell"


def test_the_overhead_of_each_run_is_told():
    runs = combined([on_a_line(n, blocks=3, grid=CPU_GRID) for n in (600, 660, 720)])
    found = calibrate(runs, [])
    assert found.run_overheads == pytest.approx((600, 660, 720))


def test_the_drift_from_a_baseline_holds_the_true_ratio():
    before = noisy(1)
    cells = {
        cell.shape: tuple(tuple(2 * ms for ms in b) for b in cell.runs[0]) for cell in before.cells
    }
    slower = measurement(cells, "now", grid=CPU_GRID, environment={"torch": "2.13"})
    found = calibrate(slower, [], baseline=before).drift
    assert found.ratio == pytest.approx(1)
    assert found.low < 1 < found.high
    assert found.fixed == pytest.approx(2)
    assert found.per_token == pytest.approx(2)


def test_a_drift_names_what_else_differs():
    one = on_a_line(600, grid=CPU_GRID, environment={"torch": "2.12"})
    other = on_a_line(660, grid=CPU_GRID, environment={"torch": "2.13"})
    found = calibrate(other, [], baseline=one).drift
    assert found.ratio == pytest.approx(1.1)
    assert found.differences == {"torch": ("2.12", "2.13")}


def test_a_drift_of_what_is_hardly_known_is_unbounded():
    runs = combined([on_a_line(n, blocks=3, grid=CPU_GRID) for n in (0, 660, 720)])
    found = calibrate(on_a_line(660, grid=CPU_GRID), [], baseline=runs).drift
    assert found.low < 1
    assert found.high == float("inf")


def test_an_unusable_baseline_is_refused_by_name():
    bad = on_a_line(600, complete=False)
    with pytest.raises(ValueError, match="baseline exact: the run did not end"):
        calibrate(on_a_line(660), [], baseline=bad)
    with pytest.raises(ValueError, match="baseline exact: its line lies on its bound"):
        calibrate(on_a_line(660), [], baseline=on_a_line(0))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "does not say how it timed"),
        ({"environment": {"dirty": True}}, "uncommitted changes"),
        ({}, "three runs can"),
    ],
)
def test_what_a_reader_must_know_is_noted(fields, told):
    found = calibrate(on_a_line(667, **fields), [])
    assert any(told in note for note in found.notes)


def test_holes_are_named_and_never_filled():
    part = on_a_line(667, [s for s in CPU_GRID.shapes if s != (2, 256)], grid=CPU_GRID)
    found = calibrate(part, STRATA)
    assert any("no time of 1 captured shapes, and none made up: 2×256" in n for n in found.notes)
    assert Shape(2, 256) not in found.table.cells
    assert found.decision is not None


def test_cells_that_do_not_cover_the_grid_price_nothing():
    part = on_a_line(667, [s for s in CPU_GRID.shapes if s != (4, 1024)], grid=CPU_GRID)
    found = calibrate(part, STRATA)
    assert found.decision is None
    assert any("do not cover the grid" in note for note in found.notes)


def test_the_same_measurement_gives_the_same_answer():
    first, second = (calibrate(noisy(), STRATA) for _ in range(2))
    assert first.decision.recommendation == second.decision.recommendation
    assert first.whole.interval.low == second.whole.interval.low
