"""The comparison with the ordinary asv way: which cells, what is computed, what is printed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.ordinary import CELLS_VARIABLE, Comparison, main, spread_cells, table
from benchmarks.profiles import CPU, VARIABLE

ROOT = Path(__file__).resolve().parents[2]
FOUND = Comparison(
    once=100.0,
    once_process=80.0,
    once_sampling=64.0,
    fixed=2.0,
    ordinary=122.0,
    cells=4,
    shapes=43,
)


def test_cells_are_spread_evenly_over_the_sizes() -> None:
    sizes = [batch * length for batch, length in spread_cells(CPU, 4)]
    assert sizes == sorted(sizes)
    assert sizes[0] < 384 < 2_048 <= sizes[-1]
    assert len(set(spread_cells(CPU, 43))) == 43


@pytest.mark.parametrize("count", [0, 44])
def test_a_number_of_cells_that_cannot_be_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"{count} cells: the grid has 1 to 43"):
        spread_cells(CPU, count)


def test_the_ordinary_way_is_extrapolated_without_what_asv_does_once() -> None:
    assert FOUND.ordinary_grid == 2.0 + 120.0 * 43 / 4


def test_the_table_says_what_was_measured_and_what_was_extrapolated() -> None:
    text = table(FOUND)
    assert "| asv run, model built in `setup` | 4 | 122 |" in text
    assert "| the same over the grid, extrapolated | 43 | 1292 |" in text
    assert "takes 12.9 times as long" in text
    assert "20% of the measuring process, 36% of the whole asv run" in text


def test_the_command_refuses_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cells", "0"]) == 2
    assert "0 cells" in capsys.readouterr().err


@pytest.mark.parametrize(("cells", "seen"), [("", "False"), ("1x64,4x256", "True")])
def test_asv_sees_it_only_when_asked(cells: str, seen: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import benchmarks.ordinary as o; print(hasattr(o, 'Ordinary'))"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, CELLS_VARIABLE: cells, VARIABLE: "cpu"},
    )
    assert done.stdout.strip() == seen
