"""Forwards' changes as characters."""

from __future__ import annotations

from decider.perf.report.text_map import MOST_COLUMNS, MOST_ROWS, text_map
from tests.perf.report.comparisons import all_inconclusive, cell, empty, large, unchecked, void


def test_each_shape_has_its_sign_and_a_changed_one_its_size() -> None:
    drawn = text_map(
        unchecked(
            [
                cell("forward/1x64", "improved", -0.15),
                cell("forward/1x1024", "unchanged", 0.001),
                cell("forward/16x64", "regressed", 0.031),
                cell("plan/short/8/ladder", "regressed", 0.5),
            ]
        )
    )
    assert drawn is not None
    assert drawn.lines == (
        r"B\T       64  1024",
        "  1  −15.0%▼     =",
        " 16   +3.1%▲",
    )
    assert "not all" not in drawn.legend


def test_there_is_none_where_the_grid_did_not_change_or_the_run_is_void() -> None:
    for document in (empty(), all_inconclusive(), void()):
        assert text_map(document) is None


def test_a_great_grid_shows_only_rows_and_columns_that_changed() -> None:
    cells = [
        cell(
            f"forward/{batch}x{length}", "regressed" if batch == length == 20 else "unchanged", 0.1
        )
        for batch in range(1, 30)
        for length in range(1, 30)
    ]
    drawn = text_map(unchecked(cells))
    assert drawn is not None
    assert drawn.lines == (r"B\T       20", " 20  +10.0%▲")
    assert "not all rows and columns are shown" in drawn.legend


def test_it_never_grows_beyond_a_screen() -> None:
    drawn = text_map(large(40, 40, count=1))
    assert drawn is not None
    assert len(drawn.lines) == MOST_ROWS + 1
    assert max(map(len, drawn.lines)) <= (MOST_COLUMNS + 1) * 10


def test_shapes_without_numbers_are_not_drawn() -> None:
    hostile = {"batch": "```\n@x", "length": 64}
    cells = [cell("forward/1x64", "regressed", 0.1, parameters=hostile)]
    assert text_map(unchecked(cells)) is None
