"""The frozen table: complete, plausible, and made from a grid file by the documented rule."""

from __future__ import annotations

import json

import pytest

from benchmarks.frozen_times import PATH, frozen_text, frozen_times, halves
from benchmarks.profiles import CPU

GRID_FILE = {
    "complete": True,
    "profile": "cpu",
    "environment": {"cpu": "some CPU", "threads": 1, "torch": "2.13"},
    "cells": [{"batch": 2, "length": 64, "blocks": [[1, 2, 9], [4], [3], [6], [5]]}],
}


def test_it_holds_every_shape_of_the_cpu_profile():
    times = frozen_times()
    assert list(times.planned_with) == list(times.run_at) == CPU.shapes
    assert "benchmarks.forward" in times.source


def test_both_halves_tell_of_the_same_machine():
    times = frozen_times()
    for cell, first in times.planned_with.items():
        assert 0.4 < first / times.run_at[cell] < 2.5, cell


def test_alternate_blocks_go_to_different_halves():
    assert halves([[1, 2, 9], [4], [3], [6], [5]]) == (3, 5)


def test_a_grid_file_becomes_a_table(tmp_path):
    path = tmp_path / PATH.name
    path.write_text(frozen_text(GRID_FILE))
    times = frozen_times(path)
    assert times.planned_with == {(2, 64): 3}
    assert times.run_at == {(2, 64): 5}
    assert json.loads(path.read_text())["source"].endswith("some CPU, 1 thread, torch 2.13")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"complete": False}, "interrupted"),
        ({"cells": [{"batch": 2, "length": 64, "blocks": [[1]]}]}, r"\(2, 64\)"),
    ],
)
def test_an_unfinished_file_is_refused(change, named):
    with pytest.raises(ValueError, match=named):
        frozen_text({**GRID_FILE, **change})
