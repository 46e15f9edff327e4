"""`decider compare`: what it asks, writes, prints and exits with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from decider.cli import main
from decider.commands import compare as command
from decider.perf.comparison import commits, workshop
from decider.perf.comparison.document import read_comparison
from tests.perf.comparison.runs import BASE, HEAD, Arms, subject


@pytest.fixture
def arms(tmp_path: Path, monkeypatch):
    """Arms that run nothing, in an empty repository; the test may replace them."""
    held = {"arms": Arms({"forward/1x64": 0.05})}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commits, "repository_root", lambda _start: tmp_path)
    monkeypatch.setattr(commits, "has_changes", lambda _root: False)
    monkeypatch.setattr(commits, "resolve", lambda _root, name: BASE if name == "main" else HEAD)
    monkeypatch.setattr(workshop.Workshop, "prepare", lambda _self: None)
    monkeypatch.setattr(workshop.Workshop, "start", lambda _self, side: held["arms"](side))
    monkeypatch.setattr(
        workshop.Workshop, "exact_figures", lambda _self, side: subject().exact[side]
    )
    return held


def run(*arguments: str):
    return CliRunner().invoke(main, ["compare", *arguments])


def test_a_regression_is_exit_status_1_and_a_document(arms, tmp_path: Path):
    done = run("main", "HEAD", "--no-asv-results")
    assert done.exit_code == 1, done.output
    assert "Worse: of 5 cells 2 regressed (forward/1x64 +" in done.stdout
    path = tmp_path / ".asv" / "comparisons" / "aaaaaaaa-bbbbbbbb-quick.json"
    assert str(path) in done.stdout
    document = read_comparison(path)
    assert document["command"] == "decider compare aaaaaaaaaaaa bbbbbbbbbbbb --profile quick"
    assert not path.with_name(path.name + ".partial").exists()


def test_nothing_worse_is_exit_status_0(arms):
    arms["arms"] = Arms()
    assert run("--no-asv-results").exit_code == 0


@pytest.mark.parametrize(("fail_on", "status"), [("undecided", 2), ("failed", 0)])
def test_undecided_is_exit_status_2_unless_it_is_let_pass(arms, fail_on, status):
    arms["arms"] = Arms(noise=0.3)
    assert run("--no-asv-results", "--pairs", "3", "--fail-on", fail_on).exit_code == status


def test_options_are_in_the_command_that_reproduces_it(arms, tmp_path: Path):
    out = tmp_path / "c.json"
    run("--no-asv-results", "--pairs", "3", "--budget", "90s", "--margin", "0.1", "--out", str(out))
    document = read_comparison(out)
    assert document["command"].endswith("--profile quick --budget 90s --pairs 3 --margin 0.1")
    assert document["budget_seconds"] == 90
    assert document["design"]["looks"] == [3]


def test_an_interrupt_keeps_the_pairs_and_resume_goes_on(arms, tmp_path: Path):
    class Interrupted(Arms):
        started = 0

        def __call__(self, side):
            Interrupted.started += 1
            if Interrupted.started == 7:
                raise KeyboardInterrupt
            return super().__call__(side)

    arms["arms"] = Interrupted()
    stopped = run("--no-asv-results", "--pairs", "5")
    assert stopped.exit_code == 130
    assert "--resume goes on" in stopped.stderr
    again = run("--no-asv-results", "--pairs", "5")
    assert again.exit_code == 2
    assert "keeps an unfinished run: add --resume" in again.stderr
    resumed = run("--no-asv-results", "--pairs", "5", "--resume", "--fail-on", "failed")
    assert resumed.exit_code == 0, resumed.output
    [path] = (tmp_path / ".asv" / "comparisons").glob("*.json*")
    assert len(read_comparison(path)["pairs"]) == 5


def test_nothing_to_resume_is_refused(arms):
    done = run("--resume")
    assert done.exit_code == 2
    assert "nothing to resume" in done.stderr


@pytest.mark.parametrize("budget", ["0", "ten", "10d", "-3m", ""])
def test_a_budget_that_is_no_duration_is_refused(arms, budget):
    done = run("--budget", budget)
    assert done.exit_code == 2
    assert "is no duration: 90s, 10m, 1h or none" in done.stderr


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200), ("none", float("inf"))],
)
def test_durations(text, seconds):
    assert command.Duration().convert(text, None, None) == seconds


def test_a_processor_that_is_not_there_is_refused(arms):
    done = run("--cpu", "4095")
    assert done.exit_code == 2
    assert "--cpu 4095: this process may use" in done.stderr


def test_outside_of_a_repository_is_exit_status_2(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    done = run()
    assert done.exit_code == 2
    assert "not a git repository" in done.stderr


def test_a_self_test_records_every_run(arms, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("DECIDER_MACHINE", "bench-1")
    slow, same = Arms({"forward/1x64": 0.05}), Arms()
    monkeypatch.setattr(
        workshop.Workshop, "start", lambda self, side: (slow if self.delay else same)(side)
    )
    done = run("--self-test", "--unchanged", "2", "--delayed", "1", "--pairs", "10")
    assert done.exit_code == 0, done.output
    assert "false alarms: 0 of 2 unchanged runs (0.0% to 84.2%" in done.stdout
    assert "found: a delay of 5.0% in 1 of 1 runs" in done.stdout
    [path] = (tmp_path / ".asv" / "self-tests").glob("bench-1-*.json")
    document = json.loads(path.read_text())
    assert [found["delay"] for found in document["runs"]] == [0, 0.05, 0]
    assert document["command"] == (
        "decider compare --self-test --profile quick --pairs 10 --unchanged 2 --delayed 1"
    )


def test_a_self_test_of_nothing_is_refused(arms):
    done = run("--self-test", "--unchanged", "0", "--delayed", "0")
    assert done.exit_code == 2
    assert "leaves nothing to do" in done.stderr


def test_last_is_the_commit_measured_before_or_the_parent(arms, monkeypatch):
    asked = []
    monkeypatch.setattr(commits, "resolve", lambda _root, name: asked.append(name) or HEAD)
    run("last", "HEAD", "--no-asv-results", "--pairs", "2")
    assert asked == ["HEAD", f"{HEAD.hash}^"]
