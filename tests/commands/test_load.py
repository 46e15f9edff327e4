"""`decider load`: whole runs in process against the stand-in engine, and what is refused."""

from __future__ import annotations

import io
import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from decider.commands.load import RateType, load
from decider.commands.load_display import LoadProgress, progress_text, report_table
from decider.costs import LinearCost, MeasuredCost, save
from decider.grid import CPU_GRID
from decider.serve.answer_check import Tally
from decider.serve.load import Outcome, Progress, Records
from decider.serve.load_report import load_report

QUICK = ("--seconds", "0.4", "--warm-up", "0.1")


@pytest.fixture
def table(tmp_path: Path) -> str:
    cells = {(b, t): 0.2 + b * t / 10_000 for b, t in CPU_GRID.shapes}
    path = tmp_path / "table.json"
    save(MeasuredCost(cells), path)
    return str(path)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(load, list(arguments))


def report_of(tmp_path: Path, *arguments: str, code: int = 0) -> Any:
    path = tmp_path / "out" / "report.json"
    result = run(*arguments, "--json", str(path))
    assert result.exit_code == code, result.output
    return json.loads(path.read_text())


def test_a_closed_loop_is_answered_rightly(tmp_path, table):
    report = report_of(tmp_path, "--stand-in", table, "--closed", "4", "--rows", "3", *QUICK,
                       "--late-ms", "60000")  # fmt: skip
    assert report["requests"]["answered"] > 0
    assert sum(report["requests"].values()) == report["requests"]["answered"]
    assert report["answers"]["right"] == 3 * report["requests"]["answered"]
    assert report["configuration"]["clients"] == 4
    assert report["exit_code"] == 0


def test_an_open_loop_sends_what_is_scheduled(tmp_path, table):
    arguments = ("--rate", "100", "--variation", "0", "--late-ms", "60000", *QUICK)
    report = report_of(tmp_path, "--stand-in", table, *arguments)
    assert report["requests"]["answered"] == 49
    assert report["configuration"]["rate"] == 100


def test_a_trace_is_replayed(tmp_path, table):
    trace = tmp_path / "trace.csv"
    rows = "".join(f"2023-11-16 18:15:4{k}.0,{tokens},7\n" for k, tokens in enumerate([5, 70, 999]))
    trace.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + rows)
    arguments = ("--trace", str(trace), "--speed", "10", "--late-ms", "60000", *QUICK)
    assert report_of(tmp_path, "--stand-in", table, *arguments)["requests"]["answered"] == 3
    trace.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:40.0,few,7\n")
    result = run("--stand-in", table, *arguments)
    assert result.exit_code == 2
    assert "trace.csv:2" in result.output


def test_a_run_without_measured_requests_is_void(tmp_path, table):
    arguments = ("--rate", "0.001", "--seconds", "0.1", "--warm-up", "0")
    report = report_of(tmp_path, "--stand-in", table, *arguments, code=3)
    assert report["schedule"]["void"]
    assert report["rows_per_second"] is None
    assert "VOID" in run("--stand-in", table, *arguments).output


@pytest.fixture
def interruptible():
    """SIGINT interrupts, also where the tests were started in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_prints_what_there_is(tmp_path, table, interruptible):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        report = report_of(tmp_path, "--stand-in", table, "--seconds", "60", code=130)
    finally:
        timer.cancel()
    assert report["interrupted"]
    assert report["measured_seconds"] < 60


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--closed", "1", "--rate", "5"], "--closed and --rate"),
        (["--rate", "fast"], "'fast' is neither"),
        (["--rate", "-5"], "'-5' is neither"),
        (["--rate", "nan%"], "'nan%' is neither"),
        (["--trace", "t.csv", "--rows", "2"], "one row"),
        (["--stand-in", "t.json", "--in-process"], "leave --in-process"),
        (["--stand-in", "nowhere.json"], "nowhere.json"),
        (["--warm-up", "-1"], "below 0"),
        (["--json", "."], "is a folder"),
        (["--url", "localhost"], "http://"),
        (["--url", "http://127.0.0.1:9"], "start one with `decider serve`"),
    ],
)
def test_what_is_refused_is_named(arguments, named):
    result = run(*arguments)
    assert result.exit_code == 2
    assert named in " ".join(result.output.split())


def test_a_stand_in_needs_a_table(tmp_path):
    path = tmp_path / "constant.json"
    save(LinearCost(5), path)
    result = run("--stand-in", str(path))
    assert result.exit_code == 2
    assert "not a constant" in result.output


def test_rates():
    assert RateType().convert("40") == (40, False)
    assert RateType().convert("70%") == (0.7, True)


def shown(records: Records, tally: Tally) -> str:
    console = Console(record=True, width=100, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(report_table(load_report(records, tally, {}, own_process=False)))
    return console.export_text()


def test_the_table_says_what_was_found_and_what_could_not_be():
    records = Records(seconds=10)
    for number in range(100):
        place = records.leave(number / 10, number / 10, 1)
        records.end(place, number / 10 + 0.25, Outcome.ANSWERED)
    tally = Tally(right=90, wrong=2, unverified=8, alike=3, examples=["row 7: swapped"])
    text = shown(records, tally)
    for part in ("100 answered", "p50", "250.0 ms", "too few for", "p99", "90 right, 2 wrong",
                 "8 of rows answered only once", "3 rows have answers like another's",
                 "row 7: swapped"):  # fmt: skip
        assert part in " ".join(text.split())


def test_progress_is_one_live_line_on_a_terminal():
    console = Console(force_terminal=True, width=80, file=io.StringIO())
    progress = LoadProgress(console)
    progress.phase = "capacity"
    progress(Progress(1, 30, {Outcome.REJECTED: 3}))
    progress.end()
    assert "capacity: 3 rejected, 0 under way, 29 s left" in console.file.getvalue()


def test_progress_is_a_line_now_and_then_where_there_is_no_terminal(capsys):
    progress = LoadProgress(Console(force_terminal=False))
    for elapsed in (0.5, 5, 10.5, 11, 0.5):
        progress(Progress(elapsed, 30, {Outcome.ANSWERED: 1_234, Outcome.CUT: 5}))
    progress.end()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0] == "load: 1,234 answered, 5 under way, 30 s left"


def test_progress_says_when_only_answers_are_waited_for():
    text = progress_text("load", Progress(31, 30, {Outcome.CUT: 2}))
    assert text == "load: no answer yet, 2 under way, waiting for the last answers"
