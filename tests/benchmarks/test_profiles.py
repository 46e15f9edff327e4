"""Which grid is measured where: frozen, chosen without torch, refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.profiles import CPU, GPU, VARIABLE, chosen, has_nvidia_device
from decider.grid import CPU_GRID, BucketGrid


def test_the_profiles_are_todays_default_grids() -> None:
    assert GPU.grid() == BucketGrid()
    assert CPU.grid() == CPU_GRID


@pytest.mark.parametrize(("profile", "count"), [(CPU, 43), (GPU, 89)])
def test_their_shapes_are_the_captured_ones(profile: object, count: int) -> None:
    assert profile.shapes == list(profile.grid().shapes)  # type: ignore[attr-defined]
    assert len(profile.shapes) == count  # type: ignore[attr-defined]


def test_unset_the_machine_decides() -> None:
    assert chosen({}, has_gpu=True) is GPU
    assert chosen({}, has_gpu=False) is CPU
    assert chosen({VARIABLE: " "}, has_gpu=False) is CPU


def test_the_variable_decides_over_the_machine() -> None:
    assert chosen({VARIABLE: "cpu"}, has_gpu=True) is CPU
    assert chosen({VARIABLE: " GPU "}, has_gpu=False) is GPU


def test_another_value_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="DECIDER_BENCH_PROFILE='tpu': known profiles are cpu"):
        chosen({VARIABLE: "tpu"})


def test_a_gpu_is_seen_by_its_device_file(tmp_path: Path) -> None:
    (tmp_path / "nvidiactl").touch()  # the driver alone, no GPU
    assert not has_nvidia_device(tmp_path)
    (tmp_path / "nvidia0").touch()
    assert has_nvidia_device(tmp_path)


def test_real_tokens_are_the_mean_of_the_bucket() -> None:
    assert CPU.mean_real_tokens(1, 64) == sum(range(1, 65)) / 64
    assert CPU.mean_real_tokens(4, 512) == 4 * sum(range(385, 513)) / 128
