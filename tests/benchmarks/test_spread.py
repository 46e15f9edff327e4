"""Two runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.grid_file import to_text
from benchmarks.spread import main, spreads, table


def cell(batch: int, ms: float, width: float) -> dict[str, Any]:
    interval = [ms * (1 - width), ms * (1 + width)]
    return {
        "batch": batch,
        "length": 64,
        "milliseconds": ms,
        "interval": interval,
        "half_width": width,
    }


def document(*cells: dict[str, Any], **environment: Any) -> dict[str, Any]:
    return {
        "schema": "decider.grid/1",
        "profile": "cpu",
        "environment": {"commit": "abc", **environment},
        "cells": list(cells),
    }


FIRST = document(cell(1, 10.0, 0.01), cell(2, 20.0, 0.02), cell(4, 40.0, 0.03))
SECOND = document(cell(4, 41.0, 0.03), cell(1, 12.0, 0.01))


def test_cells_of_both_runs_are_set_side_by_side() -> None:
    one, four = spreads(FIRST, SECOND)
    assert (one.batch, one.milliseconds, one.overlap) == (1, (10.0, 12.0), False)
    assert one.apart == pytest.approx(2 / 11)
    assert (four.batch, four.half_widths, four.overlap) == (4, (0.03, 0.03), True)


def test_the_table_shows_what_was_claimed_beside_what_was_found() -> None:
    text = table(spreads(FIRST, SECOND))
    assert "| 1 | 64 | 10.000 | 12.000 | +18.2% | ±1.0% | ±1.0% | no |" in text
    assert text.endswith(
        "2 cells: the medians of the two runs lie 10.3% apart in the median cell and 18.2% in the "
        "worst; the runs claimed ±2.0% in the median cell; the intervals overlap in 1 cells."
    )


def test_runs_of_different_commits_are_not_set_side_by_side() -> None:
    other = document(cell(1, 10.0, 0.01), commit="def")
    with pytest.raises(ValueError, match="not two runs of one grid: commit: 'abc' before, 'def'"):
        spreads(FIRST, other)


def test_runs_must_have_a_cell_in_common() -> None:
    with pytest.raises(ValueError, match="no cell in common"):
        spreads(FIRST, document(cell(8, 1.0, 0.1)))


def test_the_command_prints_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for name, content in (("a", FIRST), ("b", SECOND)):
        paths.append(str(tmp_path / name))
        Path(paths[-1]).write_text(to_text(content))
    assert main(paths) == 0
    assert capsys.readouterr().out == table(spreads(FIRST, SECOND)) + "\n"


def test_the_command_refuses_a_missing_file_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    assert str(tmp_path / "a") in capsys.readouterr().err
