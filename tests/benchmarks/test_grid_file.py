"""The file of a grid: what it says, that it is strict, and what makes it another run."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.grid_file import (
    differences,
    grid_document,
    known_samples,
    read_document,
    to_text,
)
from benchmarks.profiles import CPU
from benchmarks.sampling import Block, CellSamples

SMALL = replace(CPU, batches=(1, 2), lengths=(64, 128), token_budget=128)
ENVIRONMENT = {"machine": "m", "commit": "abc", "time": "now", "seed": 1}


def samples() -> dict[tuple[int, int], CellSamples]:
    slowed = {"sm_mhz": 900, "throttle": ["software power cap"]}
    usual = {"sm_mhz": 1_800, "throttle": []}
    quiet = [Block([0.010, 0.012, 0.011], usual) for _ in range(6)]
    return {
        (1, 64): CellSamples((1, 64), [*quiet, Block([0.5], slowed)], 3, 1.25, "interval"),
        (2, 64): CellSamples((2, 64), [Block([0.02 + i / 100]) for i in range(7)], 1, 2.1, "time"),
        (1, 128): CellSamples((1, 128), [Block([0.03])], 1, 0.03),
    }


def document(**changes: Any) -> dict[str, Any]:
    spent = {"total": 9.0, "start_up": 2.0, "warm_up": 1.0, "sampling": 6.0}
    made = grid_document(SMALL, SMALL.timing, ENVIRONMENT, samples(), spent)
    return made | changes


def test_it_says_what_the_readers_need() -> None:
    found = document()
    assert {"schema", "profile", "model", "grid", "environment", "timing", "complete"} <= set(found)
    assert found["schema"] == "decider.grid/1"
    assert found["grid"]["length_buckets"] == [64, 128]
    assert found["timing"]["method"] == "host-to-host forward"
    assert found["timing"]["queueing"] is False
    assert found["complete"] is False  # one cell has not stopped


def test_a_cell_has_its_median_interval_and_kept_blocks_in_milliseconds() -> None:
    cell = document()["cells"][0]
    assert (cell["batch"], cell["length"], cell["milliseconds"]) == (1, 64, 11.0)
    assert (cell["interval"], cell["half_width"], cell["stop"]) == ([11.0, 11.0], 0.0, "interval")
    assert cell["blocks"] == [[10.0, 12.0, 11.0]] * 6
    assert (cell["repeats"], cell["dropped_blocks"]) == (3, 1)
    assert cell["dropped"][0]["device"]["throttle"] == ["software power cap"]
    assert len(cell["devices"]) == 6


def test_a_cell_has_its_time_per_token() -> None:
    cell = document()["cells"][0]
    assert cell["microseconds_per_padded_token"] == pytest.approx(11_000 / 64, abs=1e-5)
    assert cell["microseconds_per_real_token"] == pytest.approx(11_000 / 32.5, abs=1e-5)


def test_an_unfinished_cell_says_so_and_one_without_blocks_is_left_out() -> None:
    measured = samples() | {(1, 128): CellSamples((1, 128))}
    spent = {"total": 1.0}
    left_out = grid_document(SMALL, SMALL.timing, ENVIRONMENT, measured, spent)
    assert [(c["batch"], c["length"]) for c in left_out["cells"]] == [(1, 64), (2, 64)]
    assert left_out["complete"] is False
    assert document()["cells"][-1]["stop"] == "interrupted"


def test_it_is_complete_when_every_cell_has_stopped() -> None:
    measured = samples()
    measured[1, 128].stop = "time"
    assert grid_document(SMALL, SMALL.timing, ENVIRONMENT, measured, {})["complete"] is True


def test_it_is_strict_json_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "grid.json"
    path.write_text(to_text(document()))
    assert read_document(path) == document()
    assert json.loads(to_text(document(cells=[])))["cells"] == []
    with pytest.raises(ValueError, match="JSON"):
        to_text(document(spent_seconds={"total": float("nan")}))


def test_known_samples_are_those_that_were_written() -> None:
    for found, written in zip(known_samples(document()), samples().values(), strict=True):
        assert (found.cell, found.repeats, found.stop) == (
            written.cell,
            written.repeats,
            written.stop,
        )
        assert found.spent == pytest.approx(written.spent)
        assert found.block_medians() == pytest.approx(written.block_medians())
        assert len(found.dropped) == len(written.dropped)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value"),
        ("[1]", "found None"),
        ('{"schema": "decider.cost/1"}', "found 'decider.cost/1'"),
    ],
)
def test_another_file_is_refused_by_name(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"other\.json.*{reason}"):
        read_document(path)


def test_a_damaged_cell_is_refused() -> None:
    damaged = document()
    del damaged["cells"][1]["repeats"]
    with pytest.raises(ValueError, match="damaged cell: bad or missing field 'repeats'"):
        known_samples(damaged)


def test_the_time_of_day_makes_no_other_run() -> None:
    later = copy.deepcopy(document())
    later["environment"]["time"] = "later"
    assert differences(document(), later) == []


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        ("environment", "commit", "def"),
        ("environment", "machine", "n"),
        ("timing", "half_width", 0.5),
        (None, "profile", "gpu"),
        (None, "model", "2b"),
    ],
)
def test_what_makes_another_run_is_named_with_both_values(
    place: str | None, name: str, value: Any
) -> None:
    other = copy.deepcopy(document())
    (other if place is None else other[place])[name] = value
    (found,) = differences(document(), other)
    assert str(value) in found
    assert "before" in found
