"""Grid files: what the measuring wrote is what is calibrated."""

import json

import pytest

from decider.grid import BucketGrid
from decider.perf.calibration.grid_file import read_grid_file

GRID = BucketGrid((64, 128), (1, 2), 128)


def grid_file(folder, **changes):
    values = {
        "schema": "decider.grid/1",
        "profile": "cpu",
        "model": "tiny",
        "grid": GRID.to_dict(),
        "environment": {"machine": "m", "commit": "abc"},
        "timing": {"method": "host-to-host forward", "queueing": False, "minimum_seconds": 0.005},
        "complete": True,
        "cells": [
            {"batch": 1, "length": 64, "milliseconds": 1.0, "blocks": [[1.0, 1.1], [0.9]]},
            {"batch": 1, "length": 128, "milliseconds": 2.0},
        ],
    }
    path = folder / "grid.json"
    path.write_text(json.dumps({**values, **changes}), encoding="utf-8")
    return path


def test_blocks_grid_and_environment_are_read(tmp_path):
    found = read_grid_file(grid_file(tmp_path))
    assert found.cells[0].runs == (((1.0, 1.1), (0.9,)),)
    assert found.cells[1].runs == (((2.0,),),)
    assert found.grid == GRID
    assert found.missing == ((2, 64),)
    assert found.environment["model"] == "tiny"
    assert found.environment["commit"] == "abc"
    assert found.complete
    assert found.queueing is False


def test_a_file_that_does_not_say_it_is_complete_is_not(tmp_path):
    path = grid_file(tmp_path)
    values = json.loads(path.read_text())
    del values["complete"]
    path.write_text(json.dumps(values))
    assert not read_grid_file(path).complete


def test_how_it_timed_may_be_left_unsaid(tmp_path):
    assert read_grid_file(grid_file(tmp_path, timing={})).queueing is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"schema": "decider.grid/2"}, "not a grid of schema 'decider.grid/1': found"),
        ({"cells": []}, "no measured cell"),
        ({"cells": None}, "malformed"),
        ({"cells": [{"batch": 1}]}, "field 'length' is missing"),
        ({"cells": [{"batch": 1, "length": 64, "milliseconds": 1}] * 2}, "stands twice"),
        ({"cells": [{"batch": "1", "length": 64, "milliseconds": 1}]}, r"cell \('1', 64\)"),
        ({"cells": [{"batch": 1, "length": 64, "milliseconds": "x"}]}, "could not convert"),
        ({"grid": {"length_buckets": [64]}}, "grid without batch_buckets"),
    ],
)
def test_a_malformed_file_is_refused_by_name(tmp_path, changes, told):
    with pytest.raises(ValueError, match=told) as refused:
        read_grid_file(grid_file(tmp_path, **changes))
    assert "grid" in str(refused.value)


@pytest.mark.parametrize("text", ["", "[]", "3", '{"schema": "decider.grid/1"', "\x00"])
def test_what_is_no_grid_file_is_refused(tmp_path, text):
    path = tmp_path / "grid.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"grid\.json"):
        read_grid_file(path)
