"""What the scripts of the workflows do with git: the branch of results, and a commit's base."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.script_runner import Runner
from tests.workflow_files import script

KEEP = script("benchmark-main-keep-Commit them")
BRING = script("benchmark-main-measure-Bring the earlier results")
FIND_BASE = script("benchmark-pr-compare-Fetch the commit")
COMMIT = "a" * 40


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A folder to run scripts in."""
    return Runner(tmp_path)


@pytest.fixture
def origin(runner: Runner) -> Path:
    """A repository with one commit on main, and a clone of it in the runner's folder."""
    bare = runner.folder.parent / "origin.git"
    _git(runner.folder.parent, "init", "--quiet", "--bare", "-b", "main", str(bare))
    _git(bare, "config", "uploadpack.allowAnySHA1InWant", "true")  # as GitHub does
    runner.folder.rmdir()
    _git(runner.folder.parent, "clone", "--quiet", str(bare), str(runner.folder))
    (runner.folder / "results").mkdir()
    (runner.folder / "results" / "reference.json").write_text("{}", encoding="utf-8")
    _git(runner.folder, "switch", "--quiet", "-c", "main")
    _commit(runner.folder, "one")
    _git(runner.folder, "push", "--quiet", "origin", "main")
    runner.answers = [("^auth git-credential", {})]
    return bare


def test_the_first_run_makes_the_branch_with_nothing_else_on_it(
    runner: Runner, origin: Path
) -> None:
    _keep(runner, {"gpu/1.json": "one", "benchmarks.json": "{}"})
    assert _kept(origin) == {"results/gpu/1.json": "one", "results/benchmarks.json": "{}"}
    assert _git(origin, "log", "--format=%s", "benchmark-results") == f"Results of {COMMIT}"


def test_later_results_are_added_and_nothing_new_is_no_commit(runner: Runner, origin: Path) -> None:
    _keep(runner, {"gpu/1.json": "one"})
    _keep(runner, {"gpu/1.json": "one", "gpu/2.json": "two"})
    assert _kept(origin) == {"results/gpu/1.json": "one", "results/gpu/2.json": "two"}
    assert "nothing new" in _keep(runner, {"gpu/2.json": "two"})
    assert _git(origin, "rev-list", "--count", "benchmark-results") == "2"


def test_earlier_results_are_brought_to_where_asv_looks(runner: Runner, origin: Path) -> None:
    assert runner.run(BRING).returncode == 0
    assert list((runner.folder / ".asv").iterdir()) == [], "before the first run there are none"
    _keep(runner, {"gpu/1.json": "one"})
    _git(runner.folder, "fetch", "--quiet", "origin")
    assert runner.run(BRING).returncode == 0
    brought = runner.folder / ".asv" / "results" / "gpu" / "1.json"
    assert brought.read_text(encoding="utf-8") == "one"


def test_a_commit_is_compared_with_where_it_branched_off(runner: Runner, origin: Path) -> None:
    branched = _git(runner.folder, "rev-parse", "HEAD")
    fork = runner.folder.parent / "fork"
    _git(runner.folder.parent, "clone", "--quiet", str(origin), str(fork))
    _commit(fork, "a stranger's")
    _git(fork, "push", "--quiet", "origin", "HEAD:refs/pull/12/head")
    _commit(runner.folder, "main has gone on")
    done = runner.run(FIND_BASE, COMMIT=_git(fork, "rev-parse", "HEAD"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert runner.output == {"base": branched}


def test_a_commit_that_cannot_be_had_is_an_error(runner: Runner, origin: Path) -> None:
    assert runner.run(FIND_BASE, COMMIT=COMMIT).returncode != 0
    assert runner.output == {}


def _keep(runner: Runner, files: Mapping[str, str]) -> str:
    """Run the script that keeps results, on the branch main as a new run would; what it says."""
    source = runner.folder.parent / "artifact"
    for folder in (source, runner.folder.parent / "results"):
        shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(content, encoding="utf-8")
    runner.answers = [("^run download", str(source)), ("^auth git-credential", {})]
    done = runner.run(KEEP, RUN="5", COMMIT=COMMIT)
    assert done.returncode == 0, done.stdout + done.stderr
    _git(runner.folder, "switch", "--quiet", "main")
    _git(runner.folder, "branch", "--quiet", "-D", "benchmark-results")
    return done.stdout


def _kept(origin: Path) -> dict[str, str]:
    names = _git(origin, "ls-tree", "-r", "--name-only", "benchmark-results").split()
    return {name: _git(origin, "show", f"benchmark-results:{name}") for name in names}


def _commit(folder: Path, message: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    _git(folder, "add", ".")
    _git(folder, *identity, "commit", "--quiet", "--allow-empty", "-m", message)


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
