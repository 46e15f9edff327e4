"""The GPU check without a GPU: what it runs, what it writes, how it ends."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from benchmarks import gpu_check
from benchmarks.environment import MACHINE_VARIABLE
from benchmarks.gpu_check import GRID_NAME, NO_GPU, Outcome, gpu_test_files, machine_name, main
from benchmarks.grid_file import to_text


def fake_torch(available: bool) -> ModuleType:
    module = ModuleType("torch")
    module.__version__ = "2.13"  # type: ignore[attr-defined]
    module.version = SimpleNamespace(cuda=None)  # type: ignore[attr-defined]
    module.cuda = SimpleNamespace(  # type: ignore[attr-defined]
        is_available=lambda: available, get_device_name=lambda _: "NVIDIA H200 (rev 1)"
    )
    return module


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", fake_torch(available=True))
    monkeypatch.delenv(MACHINE_VARIABLE, raising=False)


def document(**changes: Any) -> dict[str, Any]:
    device = {"sm_mhz": 1_900, "throttle": ["software power cap"]}
    cell = {
        "batch": 1,
        "length": 64,
        "milliseconds": 5.0,
        "stop": "interval",
        "dropped_blocks": 2,
        "devices": [device, device],
    }
    return {
        "schema": "decider.grid/1",
        "environment": {"commit": None, "torch": "2.13", "driver": "580"},
        "spent_seconds": {"start_up": 60.0, "warm_up": 5.0, "sampling": 90.0},
        "engine": {"model": "2b"},
        "capture": {"seconds": 50.0, "graph_bytes": [[1, 64, 10]]},
        "device_readings": "NVML",
        "cells": [cell],
    } | changes


def parts(
    monkeypatch: pytest.MonkeyPatch, tests: int = 0, grid: int = 0, name: str | None = GRID_NAME
) -> dict[str, Any]:
    """Stand-ins for the two parts; the grid writes a document to `name` beside where it should."""
    asked: dict[str, Any] = {}

    def run(
        arguments: list[str], limit_seconds: float, variables: dict[str, str] | None = None
    ) -> Outcome:
        part = arguments[1]
        asked[part] = (arguments, limit_seconds, variables)
        if part == "pytest":
            return Outcome(tests, "...\n3 passed in 9 s\n", 9.0)
        if name:
            out = Path(arguments[arguments.index("--out") + 1])
            out.with_name(name).write_text(to_text(document()))
        return Outcome(grid, "forward: 1 cells in 155 s\n", 155.0)

    monkeypatch.setattr(gpu_check, "_run", run)
    monkeypatch.setattr(gpu_check, "gpu_test_files", lambda _: [Path("tests/engine/test_x.py")])
    return asked


def test_without_a_gpu_it_says_so_and_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", fake_torch(available=False))
    assert main(["--results", str(tmp_path)]) == NO_GPU == 2
    assert "torch 2.13, built without CUDA, sees no CUDA device" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_torch_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["--results", str(tmp_path)]) == NO_GPU
    assert "torch is not installed" in capsys.readouterr().err


@pytest.mark.usefixtures("gpu")
def test_it_runs_tests_and_grid_and_writes_both_under_the_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = parts(monkeypatch)
    assert main(["--results", str(tmp_path), "--budget", "480"]) == 0
    folder = tmp_path / "nvidia-h200-rev-1"
    text = (folder / "gpu-check.txt").read_text()
    assert capsys.readouterr().out == text
    for words in (
        "GPU check on NVIDIA H200 (rev 1)",
        "exit status 0 after 9 s: 3 passed in 9 s",
        "commit unknown (no git metadata), torch 2.13, driver 580",
        "1 cells, stopped 1 by interval; 2 blocks dropped; largest shape 1 x 64: 5.000 ms",
        "throttling in 2 blocks: software power cap in 2",
    ):
        assert words in text
    tests, tests_limit, _ = asked["pytest"]
    assert tests[:4] == ["-m", "pytest", "-m", "gpu"]
    grid, grid_limit, variables = asked["benchmarks.forward"]
    assert grid[2:6] == ["--profile", "gpu", "--out", str(folder / GRID_NAME)]
    assert variables == {MACHINE_VARIABLE: "nvidia-h200-rev-1"}
    assert tests_limit == pytest.approx(0.3 * 480)
    assert grid_limit <= 480


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(("tests", "grid"), [(1, 0), (5, 0), (0, 1), (0, -15)])
def test_one_part_that_fails_makes_it_fail_and_the_other_is_still_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tests: int, grid: int
) -> None:
    parts(monkeypatch, tests, grid)
    assert main(["--results", str(tmp_path)]) == 1
    text = (tmp_path / "nvidia-h200-rev-1" / "gpu-check.txt").read_text()
    assert f"tests marked gpu: exit status {tests}" in text
    assert f"forward grid: exit status {grid}" in text


@pytest.mark.usefixtures("gpu")
def test_an_unfinished_grid_is_summed_up_and_no_older_one_in_its_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "nvidia-h200-rev-1"
    folder.mkdir()
    (folder / GRID_NAME).write_text("of an earlier check")
    parts(monkeypatch, grid=1, name=f"{GRID_NAME}.partial")
    main(["--results", str(tmp_path)])
    assert "1 cells" in (folder / "gpu-check.txt").read_text()


@pytest.mark.usefixtures("gpu")
def test_a_grid_that_measured_nothing_is_no_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    parts(monkeypatch, grid=2, name=None)
    main(["--results", str(tmp_path)])
    text = (tmp_path / "nvidia-h200-rev-1" / "gpu-check.txt").read_text()
    assert "no cell was measured" in text


def test_only_test_files_with_gpu_tests_are_collected(tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "test_graph.py").write_text("@pytest.mark.gpu\ndef test(): ...\n")
    (tmp_path / "test_other.py").write_text("import hypothesis\n")
    assert gpu_test_files(tmp_path) == [tmp_path / "engine" / "test_graph.py"]


def test_no_gpu_tests_are_no_success() -> None:
    assert gpu_check.run_tests([], 1.0).status == 5


def test_a_machine_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MACHINE_VARIABLE, "Our H200 #2")
    assert machine_name("NVIDIA H200") == "our-h200-2"


def test_a_part_is_passed_on_kept_and_stopped_at_its_limit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcome = gpu_check._run(["-c", "print('words'); raise SystemExit(3)"], 60.0)
    assert (outcome.status, outcome.text) == (3, "words\n")
    assert "words" in capsys.readouterr().err
    assert gpu_check._run(["-c", "import time; time.sleep(60)"], 0.1).status == -15
