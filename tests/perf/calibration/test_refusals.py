"""Each refusal: when it comes, what it says, and the way out it names."""

import numpy as np
import pytest

from decider.grid import CPU_GRID, BucketGrid, Shape
from decider.perf.calibration.fit import Interval, Line
from decider.perf.calibration.measurement import measurement
from decider.perf.calibration.refusals import (
    refusals_of_fit,
    refusals_of_measurement,
    refusals_of_sizes,
)
from tests.perf.calibration.measurements import on_a_line

NO_DRAWS = np.zeros(0)


def codes(refusals):
    return [refusal.code for refusal in refusals]


def single(*lengths):
    return on_a_line(100, [Shape(1, length) for length in lengths])


def test_a_good_measurement_is_not_refused():
    good = on_a_line(667, grid=CPU_GRID, queueing=False)
    line = Line(9.2, 0.0138)
    interval = Interval(640.0, 690.0, "block", 8, NO_DRAWS)
    assert refusals_of_measurement(good) == []
    assert refusals_of_sizes(good) == []
    assert refusals_of_fit(line, interval) == []


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_time_is_named_with_its_cell(bad):
    cells = {Shape(2, 64): ((1.0, bad),), Shape(1, 64): ((1.0,),)}
    (refusal,) = refusals_of_measurement(measurement(cells, "test"))
    assert refusal.code == "bad-time"
    assert f"cell 2×64 holds a time of {bad!r} ms" in refusal.message
    assert refusal.of == "measurement"


def test_times_with_queueing_are_refused():
    (refusal,) = refusals_of_measurement(on_a_line(667, queueing=True))
    assert refusal.code == "queueing"
    assert "idle engine" in refusal.cure


def test_an_unfinished_run_is_refused():
    (refusal,) = refusals_of_measurement(on_a_line(667, complete=False))
    assert refusal.code == "unfinished"
    assert "--resume" in refusal.cure


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        (lambda s: s.batch != 8, "batch bucket 8"),
        (lambda s: s.length not in (192, 256), "length bucket 192, 256"),
    ],
)
def test_a_missing_slice_of_the_grid_is_refused(kept, told):
    part = on_a_line(667, filter(kept, CPU_GRID.shapes), grid=CPU_GRID)
    (refusal,) = refusals_of_measurement(part)
    assert refusal.code == "missing-slice"
    assert told in refusal.message


def test_a_single_hole_is_no_missing_slice():
    part = on_a_line(667, [s for s in CPU_GRID.shapes if s != (2, 256)], grid=CPU_GRID)
    assert refusals_of_measurement(part) == []


def test_many_missing_buckets_are_not_all_listed():
    grid = BucketGrid(tuple(range(1, 30)), (1,))
    (refusal,) = refusals_of_measurement(on_a_line(667, [Shape(1, 1)], grid=grid))
    assert "2, 3, 4, 5, 6, 7 and 22 more" in refusal.message


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ((64, 128, 256, 512, 768, 1024), []),
        ((64, 128, 256, 512, 1024), ["few-sizes"]),
        ((64, 128, 256, 512, 768, 1000), ["narrow-span"]),
        ((64, 128), ["few-sizes", "narrow-span"]),
        ((64,), ["one-size"]),
    ],
)
def test_too_few_or_too_similar_sizes_are_refused(lengths, expected):
    assert codes(refusals_of_sizes(single(*lengths))) == expected


def test_cells_that_share_one_size_are_refused_however_many():
    shapes = [Shape(1, 1024), Shape(2, 512), Shape(4, 256), Shape(8, 128), Shape(16, 64)]
    (refusal,) = refusals_of_sizes(on_a_line(667, shapes))
    assert refusal.code == "one-size"
    assert "all 5 cells have the same B*T, 1024 tokens" in refusal.message


@pytest.mark.parametrize(
    ("line", "told"), [(Line(0.0, 1.0), "no fixed cost"), (Line(1.0, 0.0), "no cost per token")]
)
def test_an_estimate_on_its_bound_is_refused(line, told):
    (refusal,) = refusals_of_fit(line, Interval(0.0, 0.0, "block", 8, NO_DRAWS))
    assert refusal.code == "on-bound"
    assert told in refusal.message


@pytest.mark.parametrize(
    ("low", "high", "refused"),
    [(75.0, 125.0, False), (74.0, 100.0, True), (100.0, 126.0, True), (0.0, float("inf"), True)],
)
def test_an_interval_wider_than_a_quarter_to_either_side_is_refused(low, high, refused):
    found = refusals_of_fit(Line(100.0, 1.0), Interval(low, high, "block", 8, NO_DRAWS))
    assert codes(found) == ["wide-interval"] * refused


@pytest.mark.parametrize(
    ("unit", "cure"), [("run", "more runs"), ("block", "longer"), ("cell", "every cell several")]
)
def test_the_cure_of_a_wide_interval_depends_on_what_was_replicated(unit, cure):
    (refusal,) = refusals_of_fit(Line(100.0, 1.0), Interval(1.0, 999.0, unit, 8, NO_DRAWS))
    assert cure in refusal.cure
