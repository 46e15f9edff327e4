"""Measured cells: runs are combined where they belong together, and nothing is made up."""

import pytest

from decider.grid import BucketGrid, Shape
from decider.perf.calibration.measurement import (
    Cell,
    combined,
    difference,
    measurement,
    smallest_grid,
)

GRID = BucketGrid((64, 128), (1, 2), 256)


def run(*shapes, value=1.0, **fields):
    return measurement(
        {Shape(*shape): ((value, value),) for shape in shapes}, "a run", grid=GRID, **fields
    )


def test_a_captured_shape_without_samples_is_missing():
    cells = {Shape(1, 64): ((1.0,),), Shape(1, 128): ((),), Shape(2, 64): ()}
    assert measurement(cells, "source", grid=GRID).missing == ((2, 64), (1, 128), (2, 128))


def test_no_samples_at_all_are_refused():
    with pytest.raises(ValueError, match="some file: no measured cell"):
        measurement({Shape(1, 64): ((),)}, "some file")


def test_the_smallest_grid_holds_the_shapes():
    grid = smallest_grid([Shape(1, 4096), Shape(4, 64), Shape(2, 128)])
    assert grid.length_buckets == (64, 128, 4096)
    assert grid.batch_buckets == (1, 2, 4)
    assert grid.token_budget == 256


def test_single_rows_expect_no_wider_shapes():
    single = run((1, 64), (2, 64), (1, 128)).single_rows()
    assert [cell.shape for cell in single.cells] == [(1, 64), (1, 128)]
    assert single.missing == ()


def test_combined_runs_keep_their_places_where_a_cell_is_missing():
    both = combined([run((1, 64), value=1.0), run((1, 64), (2, 64), value=2.0)])
    assert both.run_count == 2
    assert both.cells == (
        Cell(Shape(1, 64), (((1.0, 1.0),), ((2.0, 2.0),))),
        Cell(Shape(2, 64), ((), ((2.0, 2.0),))),
    )


def test_combining_combinations_keeps_the_places_too():
    pair = combined([run((1, 64)), run((1, 64))])
    more = combined([pair, run((2, 64))])
    assert [[len(blocks) for blocks in cell.runs] for cell in more.cells] == [[1, 1, 0], [0, 0, 1]]


def test_a_run_that_did_not_end_leaves_the_whole_unfinished():
    assert not combined([run((1, 64)), run((1, 64), complete=False)]).complete


@pytest.mark.parametrize(
    ("stated", "together"),
    [((False, False), False), ((False, None), None), ((None, True), True)],
)
def test_queueing_is_absent_only_where_every_run_says_so(stated, together):
    runs = [run((1, 64), queueing=value) for value in stated]
    assert combined(runs).queueing is together


def test_runs_on_two_machines_are_not_one_measurement():
    runs = [run((1, 64), environment={"machine": name}) for name in ("here", "there")]
    with pytest.raises(ValueError, match=r"their machine is 'here' and 'there'.*--baseline"):
        combined(runs)


def test_runs_on_two_grids_are_not_one_measurement():
    other = measurement({Shape(1, 64): ((1.0,),)}, "another")
    with pytest.raises(ValueError, match="their grid is"):
        combined([run((1, 64)), other])


def test_the_times_of_runs_may_differ_and_are_then_no_longer_told():
    runs = [run((1, 64), environment={"machine": "m", "time": time}) for time in ("1", "2")]
    assert combined(runs).environment == {"machine": "m"}


def test_a_difference_names_what_both_know():
    first = run((1, 64), environment={"torch": "2.12", "gpu": "H200"})
    second = run((1, 64), environment={"torch": "2.13", "driver": "570"})
    assert difference(first, second) == {"torch": ("2.12", "2.13")}
