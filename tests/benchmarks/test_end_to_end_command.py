"""`python -m benchmarks.end_to_end`: whole runs on a table, tables of them, interrupts kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks import end_to_end_command
from benchmarks.end_to_end_command import main
from benchmarks.end_to_end_tables import tables
from benchmarks.machine import Machine
from benchmarks.policies import NAMES
from benchmarks.probes import EngineMissingError
from benchmarks.profiles import CPU
from benchmarks.serving import TimedEngine, virtual_server
from benchmarks.virtual_time import VirtualRunner, run_virtually

TIMES = {(b, t): 30 + 0.2 * b * t for b, t in CPU.shapes}
ENVIRONMENT = {"cpu": "some CPU", "threads": 1, "torch": "2.13", "commit": "0123456789abcdef"}


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose forwards take what a table says, in virtual time."""

    @asynccontextmanager
    async def opened(*_: Any, **__: Any) -> AsyncIterator[Machine]:
        yield Machine(virtual_server(CPU.grid(), TIMES), CPU.grid(), 256, TIMES, ENVIRONMENT)

    monkeypatch.setattr(end_to_end_command, "open_machine", opened)
    monkeypatch.setattr(end_to_end_command.asyncio, "run", run_virtually)


def run(tmp_path: Path, *arguments: str, code: int = 0) -> Any:
    out = tmp_path / "end_to_end.json"
    assert main(["--out", str(out), "--profile", "cpu", *arguments]) == code
    return json.loads(out.read_text())


def test_what_is_delivered_without_noise_is_what_the_replay_promised(tmp_path, capsys):
    found = run(tmp_path, "--rounds", "6", "--turns", "2", "--mixes", "short")
    assert found["schema"] == "decider.end_to_end/1"
    assert len(found["policies"]) == 2 * len(NAMES)
    for entry in found["policies"]:
        delivered = entry["throughput_over_per_bucket"]
        assert delivered["median"] == pytest.approx(entry["replayed"])
        assert delivered["interval"] == pytest.approx([entry["replayed"]] * 2)
        assert sum(entry["shares"].values()) == pytest.approx(1)
        assert len(entry["seconds"]) == 6
        assert entry["rows_per_round"] == {"closed 8": 64, "closed 64": 128}[entry["load"]]
    assert capsys.readouterr().out.strip() == tables(found).strip()


def test_the_tables_name_their_command_machine_and_interval(tmp_path, capsys):
    run(tmp_path, "--rounds", "6", "--mixes", "decision", "--loads", "closed 8")
    printed = capsys.readouterr().out
    assert "python -m benchmarks.end_to_end --out" in printed
    assert "some CPU, 1 thread, torch 2.13, commit 0123456789ab; 6 interleaved rounds" in printed
    assert "overhead derived here: 150 token-units" in printed
    assert "95% interval" in printed
    assert "| decision | 8 | ladder |" in printed
    assert "short" not in printed
    for line in printed.splitlines():
        if line.startswith("| decision"):
            assert line.count("|") in (10, 12)


def test_few_rounds_have_a_range_and_no_interval(tmp_path, capsys):
    run(tmp_path, "--rounds", "2", "--loads", "closed 8", "--turns", "1")
    printed = capsys.readouterr().out
    assert "lowest to highest round" in printed
    assert "95%" not in printed


def test_virtual_time_alone_has_a_table_of_every_load(monkeypatch, capsys):
    monkeypatch.setattr(end_to_end_command, "VIRTUAL_ROWS", 400)
    assert main(["--virtual"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("400 rows each in virtual time")
    rows = [line for line in lines if line.startswith(("| short", "| decision"))]
    assert len(rows) == 2 * 4 * len(NAMES)
    assert all(line.count("|") == lines[2].count("|") == 11 for line in rows)


class Interrupting(TimedEngine):
    """Is interrupted from the keyboard in its hundredth forward."""

    calls = 0

    def forward(self, *arguments: Any) -> list[None]:
        self.calls += 1
        if self.calls == 100:
            for task in asyncio.all_tasks():
                if "_measure" in repr(task.get_coro()):
                    task.cancel()
        return super().forward(*arguments)


def test_an_interrupt_keeps_the_whole_rounds(tmp_path, monkeypatch, capsys):
    engine = Interrupting(CPU.grid(), TIMES)
    monkeypatch.setattr(
        "tests.benchmarks.test_end_to_end_command.virtual_server",
        lambda *_: end_to_end_command_server(engine),
    )
    arguments = ("--rounds", "50", "--turns", "1", "--loads", "closed 8", "--mixes", "short")
    found = run(tmp_path, *arguments, code=130)
    assert 1 <= len(found["policies"][0]["seconds"]) < 50
    assert "interrupted after" in capsys.readouterr().err


def end_to_end_command_server(engine: TimedEngine) -> Any:
    from benchmarks.serving import Server

    return Server(engine, VirtualRunner(lambda: engine.seconds))


def test_a_commit_without_a_server_is_refused(monkeypatch, capsys):
    def missing(*_: Any, **__: Any) -> Any:
        raise EngineMissingError("this commit has no server to measure")

    monkeypatch.setattr(end_to_end_command, "open_machine", missing)
    assert main(["--profile", "cpu"]) == 2
    assert "no server to measure" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--rounds", "--turns", "--visits"])
def test_counts_are_at_least_one(option, capsys):
    with pytest.raises(SystemExit):
        main([option, "0"])
    assert "0 is below 1" in capsys.readouterr().err
