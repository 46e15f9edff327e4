"""The cells that a comparison samples."""

from __future__ import annotations

import pytest

from benchmarks import compared
from benchmarks.profiles import CPU, GPU, PROFILES


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize("name", compared.NAMES)
def test_every_sampled_shape_is_captured(profile, name):
    captured = compared.compared_profile(profile, name)
    shapes = compared.compared_shapes(profile, name)
    assert shapes
    assert set(shapes) <= set(captured.shapes)
    assert set(shapes) <= set(profile.shapes)
    grid = captured.grid()
    assert all(grid.is_captured(*shape) for shape in shapes)


@pytest.mark.parametrize("profile", [CPU, GPU], ids=["cpu", "gpu"])
def test_quick_shapes_are_enough_to_calibrate(profile):
    shapes = compared.compared_shapes(profile, "quick")
    assert set(shapes) == set(compared.QUICK_SHAPES[profile.name])
    assert len({batch * length for batch, length in shapes}) >= 6  # `refusals_of_sizes`


def test_full_is_the_whole_grid():
    assert compared.compared_shapes(CPU, "full") == CPU.shapes


def test_an_unknown_profile_is_refused_by_name():
    with pytest.raises(ValueError, match=r"'fast' is no profile.*quick, full"):
        compared.compared_profile(CPU, "fast")


def test_ids_are_unique_and_say_what_they_are():
    cells = [compared.forward_cell(CPU, shape) for shape in CPU.shapes]
    cells += [compared.plan_cell(*queue) for queue in compared.compared_queues("full")]
    cells.append(compared.CONTROL_CELL)
    ids = [cell.id for cell in cells]
    assert len(set(ids)) == len(ids)
    assert cells[0].to_dict() == {
        "id": "forward/1x64",
        "benchmark": "forward",
        "parameters": {"batch": 1, "length": 64},
        "real_tokens": 32.5,
        "padded_tokens": 64,
    }
