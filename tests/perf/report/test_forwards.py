"""Heat maps of forwards."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from decider.perf.report.forwards import SECONDS, forwards_of_grid_file, forwards_of_result
from decider.perf.report.heat_maps import HeatMap
from decider.perf.report.results_folder import read_results_folder
from tests.perf.report.results import benchmark, write_grid_file, write_results


def _texts(table: HeatMap) -> dict[str, list[str]]:
    return {name: [square.text for square in squares] for name, squares in table.rows}


def test_asv_gives_times_and_padded_tokens_by_cell_and_real_tokens_as_a_whole(
    tmp_path: Path,
) -> None:
    write_results(tmp_path)
    found = forwards_of_result(read_results_folder(tmp_path).choose())
    times, padded = found.maps
    assert _texts(times)["2"] == ["2.51 ms", "failed", "4.05 ms", "6.10 ms", "10.2 ms"]
    assert _texts(times)["8"][-1] == "", "over the token budget"
    assert _texts(padded)["1"][0] == "35.2 µs"  # 2.256 ms / 64
    assert "Over the whole grid a real token takes 9.75 µs" in found.note


@pytest.mark.parametrize(
    ("entries", "note"),
    [
        ([math.nan, math.nan], "No forward was measured: 2 cells skipped."),
        ([None, math.nan], "No forward was measured: 1 cell failed, 1 cell skipped."),
    ],
)
def test_nothing_measured_is_said(tmp_path: Path, entries: list[Any], note: str) -> None:
    cells = benchmark({"batch": [1, 2], "length": [64]}, entries, "seconds")
    write_results(tmp_path, benchmarks={SECONDS: cells})
    found = forwards_of_result(read_results_folder(tmp_path).choose())
    assert (found.maps, found.note) == ((), note)


def test_a_result_without_forwards_says_so(tmp_path: Path) -> None:
    write_results(tmp_path, benchmarks={})
    found = forwards_of_result(read_results_folder(tmp_path).choose())
    assert (found.maps, found.note) == ((), "This result holds no forwards.")


def test_a_grid_file_gives_real_tokens_of_every_cell_and_what_is_missing(tmp_path: Path) -> None:
    path = write_grid_file(tmp_path / "grid.json", missing=[128, 256, 512])
    found = forwards_of_grid_file(path)
    times, _, real = found.maps
    assert _texts(times) == {"1": ["2.26 ms", *["missing"] * 3, "6.10 ms"]}
    assert _texts(real) == {"1": ["47.0 µs", *["missing"] * 3, "7.94 µs"]}
    assert "machine reference" in found.note
    assert "did not end" in found.note


@pytest.mark.parametrize("name", ["milliseconds", "microseconds_per_real_token"])
def test_a_malformed_cell_is_named(tmp_path: Path, name: str) -> None:
    path = write_grid_file(tmp_path / "grid.json")
    values = json.loads(path.read_text(encoding="utf-8"))
    values["cells"][-1][name] = "<b>"
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(ValueError, match=r"grid\.json.*\(1, 1024\).*'<b>' is no number"):
        forwards_of_grid_file(path)
