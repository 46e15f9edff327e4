"""`python -m benchmarks.forward`: the file, the interrupted run, resuming and refusing."""

from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import grid_command, profiles
from benchmarks.grid_command import main, partial_path
from tests.benchmarks.fakes import FakeClock, FakeEngine, installed

SMALL = replace(profiles.CPU, batches=(1, 2), lengths=(64, 128), token_budget=256)

Command = Callable[..., tuple[int, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command on a fake engine and clock: exit status and what it said."""
    monkeypatch.setitem(profiles.PROFILES, "cpu", SMALL)
    monkeypatch.setenv(profiles.VARIABLE, "cpu")

    def run(*arguments: object, **engine: Any) -> tuple[int, str]:
        clock, stream = FakeClock(), io.StringIO()
        with installed(FakeEngine(clock, **engine), monkeypatch):
            status = main([str(argument) for argument in arguments], stream, clock)
        return status, stream.getvalue()

    return run


def test_it_writes_the_whole_grid(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "new" / "grid.json"
    status, said = command("--out", out)
    assert status == 0
    assert "4 cells in" in said
    assert "4 within the half-width, 0 at the time cap; 0 blocks dropped" in said
    found = json.loads(out.read_text())
    assert found["complete"] is True
    assert len(found["cells"]) == 4
    assert not partial_path(out).exists()


@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt(), 130), (grid_command.Terminated(), 143)]
)
def test_an_interrupted_run_is_kept_and_resumed(
    command: Command, tmp_path: Path, error: BaseException, status: int
) -> None:
    out = tmp_path / "grid.json"
    out.write_text("an earlier result")
    got, said = command("--out", out, fail_at=120, error=error)
    assert got == status
    assert "--resume goes on" in said
    assert out.read_text() == "an earlier result"
    kept = json.loads(partial_path(out).read_text())
    assert kept["complete"] is False

    assert command("--out", out, "--resume")[0] == 0
    found = json.loads(out.read_text())
    assert (found["complete"], found["processes"]) == (True, 2)
    for before, after in zip(kept["cells"], found["cells"], strict=False):
        assert after["blocks"][: len(before["blocks"])] == before["blocks"]
    assert not partial_path(out).exists()


def test_a_real_sigterm_ends_the_run_and_keeps_it(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward = FakeEngine.forward

    def killed(self: FakeEngine, *arguments: Any) -> None:
        if len(self.forwards) == 120:
            os.kill(os.getpid(), signal.SIGTERM)
        forward(self, *arguments)

    monkeypatch.setattr(FakeEngine, "forward", killed)
    before = signal.getsignal(signal.SIGTERM)
    status, _ = command("--out", tmp_path / "grid.json")
    assert status == 143
    assert partial_path(tmp_path / "grid.json").exists()
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_crash_keeps_what_was_measured_and_passes_through(
    command: Command, tmp_path: Path
) -> None:
    out = tmp_path / "grid.json"
    with pytest.raises(ZeroDivisionError):
        command("--out", out, fail_at=120, error=ZeroDivisionError())
    assert json.loads(partial_path(out).read_text())["cells"]


def test_a_kill_costs_no_more_than_the_time_since_the_last_checkpoint(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid_command, "CHECKPOINT_SECONDS", 0.05)
    seen: list[int] = []
    write = grid_command.write_text
    monkeypatch.setattr(
        grid_command, "write_text", lambda path, text: (seen.append(1), write(path, text))
    )
    command("--out", tmp_path / "grid.json")
    assert len(seen) > 5


def test_an_interrupt_before_the_first_block_leaves_nothing(
    command: Command, tmp_path: Path
) -> None:
    status, said = command("--out", tmp_path / "grid.json", fail_at=0)
    assert status == 130
    assert "nothing was measured yet" in said
    assert list(tmp_path.iterdir()) == []


def test_a_budget_that_ends_first_is_told_and_kept(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "grid.json"
    status, said = command("--out", out, "--budget", 0.3)
    assert status == 1
    assert "the budget of 0.3 s is spent" in said
    assert command("--out", out, "--resume")[0] == 0


def refused(result: tuple[int, str]) -> str:
    status, said = result
    assert status == 2
    return said


def test_a_new_run_does_not_overwrite_an_unfinished_one(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "grid.json"
    command("--out", out, fail_at=120)
    kept = partial_path(out).read_text()
    assert "grid.json.partial keeps an unfinished run: add --resume" in refused(
        command("--out", out)
    )
    assert partial_path(out).read_text() == kept


def test_a_file_that_cannot_be_written_is_refused_before_the_run(
    command: Command, tmp_path: Path
) -> None:
    assert "--out names a file" in refused(command("--out", tmp_path))
    (tmp_path / "file").touch()
    assert str(tmp_path / "file") in refused(command("--out", tmp_path / "file" / "grid.json"))


def test_there_must_be_something_to_resume(command: Command, tmp_path: Path) -> None:
    said = refused(command("--out", tmp_path / "grid.json", "--resume"))
    assert "nothing to resume: there is no" in said


def test_a_resumed_run_must_be_the_same_one(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "grid.json"
    command("--out", out, fail_at=120)
    kept = partial_path(out).read_text()
    assert "seed: 20260101 before, 5 now" in refused(command("--out", out, "--resume", "--seed", 5))
    said = refused(command("--out", out, "--resume", "--half-width", 0.5))
    assert "half_width: 0.03 before, 0.5 now; delete it to start anew" in said
    assert partial_path(out).read_text() == kept


def test_a_damaged_unfinished_run_is_refused_by_name(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "grid.json"
    partial_path(out).write_text('{"schema": "decider.grid/1"')
    assert "grid.json.partial: " in refused(command("--out", out, "--resume"))


@pytest.mark.parametrize("value", ["0", "-1", "nan"])
def test_a_half_width_that_cannot_be_is_refused(
    command: Command, tmp_path: Path, value: str
) -> None:
    said = refused(command("--out", tmp_path / "g", f"--half-width={value}"))
    assert "half_width must be finite and above 0" in said


def test_a_bad_profile_in_the_environment_is_refused(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(profiles.VARIABLE, "tpu")
    assert "DECIDER_BENCH_PROFILE='tpu'" in refused(command("--out", tmp_path / "g"))


def test_the_option_decides_over_the_environment(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(profiles.VARIABLE, "gpu")
    assert command("--out", tmp_path / "g", "--profile", "cpu")[0] == 0


def test_half_width_and_time_cap_reach_the_file(command: Command, tmp_path: Path) -> None:
    command("--out", tmp_path / "g", "--half-width", 0.2, "--time-cap", 0.5)
    timing = json.loads((tmp_path / "g").read_text())["timing"]
    assert (timing["half_width"], timing["time_cap_seconds"]) == (0.2, 0.5)
