"""The workflows of CI: what may run where, with which permissions, and what the linters say."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.workflow_files import FILES, FOLDER, JOBS, ROOT, SCRIPTS, STEPS, workflow

JOB_NAMES = [f"{file.stem}-{name}" for file, name, _ in JOBS]
MAKE = r"\bmake ([a-z-]+)"


def test_the_workflows_are_found() -> None:
    names = {"benchmark-comment", "benchmark-main", "benchmark-pr", "tests"}
    assert {file.stem for file in FILES} == names


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_action_is_pinned_by_hash_with_its_version_beside(file: Path) -> None:
    for line in file.read_text(encoding="utf-8").splitlines():
        if "uses:" in line:
            assert re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_an_action_has_one_hash_throughout() -> None:
    pinned: dict[str, set[str]] = {}
    for _, _, step in STEPS:
        if "uses" in step:
            name, _, version = step["uses"].partition("@")
            pinned.setdefault(name, set()).add(version)
    assert {name: len(versions) for name, versions in pinned.items()} == dict.fromkeys(pinned, 1)


@pytest.mark.parametrize(("file", "name", "job"), JOBS, ids=JOB_NAMES)
def test_every_job_says_what_it_may_and_how_long(
    file: Path, name: str, job: Mapping[str, Any]
) -> None:
    assert isinstance(job.get("permissions", workflow(file).get("permissions")), dict)
    assert 0 < job["timeout-minutes"] <= 180


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_workflow_gives_a_stranger_a_secret_or_a_cache(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert "pull_request_target" not in text
    assert "secrets." not in text
    # A comment's run has the default branch's caches: what it wrote there, a later run would read.
    assert not re.search(r"actions/cache|^\s+cache:", text, re.MULTILINE)
    default = workflow(file)["permissions"]
    assert default in ({}, {"contents": "read"})


def test_no_checkout_leaves_its_token_behind() -> None:
    checkouts = [
        step for _, _, step in STEPS if step.get("uses", "").startswith("actions/checkout")
    ]
    assert len(checkouts) >= 5
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_no_script_is_put_together_from_values(script: str) -> None:
    assert "${{" not in script, "values come through env, where the shell does not run them"


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_every_make_target_exists(script: str) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = re.findall(MAKE, script)
    assert set(called) <= targets


def test_the_workflows_call_the_targets_that_a_person_calls() -> None:
    called = {name for text in SCRIPTS.values() for name in re.findall(MAKE, text)}
    assert called == {"compare", "report", "comment", "bench-new", "site"}


@pytest.mark.parametrize(("file", "name", "job"), JOBS, ids=JOB_NAMES)
def test_what_may_write_runs_no_code_of_ours_or_of_others(
    file: Path, name: str, job: Mapping[str, Any]
) -> None:
    permissions = job.get("permissions", workflow(file)["permissions"])
    if "write" not in permissions.values():
        return
    scripts = " ".join(step.get("run", "") for step in job["steps"])
    assert not re.search(r"\b(make|pip|python3?|\.ci/run)\b", scripts)
    assert "self-hosted" not in str(job["runs-on"])


def test_the_gpu_machine_sees_a_token_that_reads_and_nothing_else() -> None:
    machines = [job for _, _, job in JOBS if "self-hosted" in str(job["runs-on"])]
    assert len(machines) == 2
    for job in machines:
        assert job["permissions"] == {"contents": "read"}


def test_measured_code_gets_no_token() -> None:
    """A token stands in the environment of steps that call `gh` only."""
    for _, _, step in STEPS:
        if "GH_TOKEN" in step.get("env", {}):
            assert "gh " in step["run"]
            assert not re.search(r"\bmake\b", step["run"])


def test_zizmor_finds_nothing_above_low() -> None:
    done = _tool("zizmor", "--offline", "--no-progress", "--min-severity", "medium", str(FOLDER))
    assert done.returncode == 0, done.stdout + done.stderr


def test_actionlint_finds_nothing() -> None:
    done = _tool("actionlint", "-no-color", *map(str, FILES))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_shellcheck_finds_nothing(script: str, tmp_path: Path) -> None:
    file = tmp_path / "script.sh"
    file.write_text(f"#!/usr/bin/env bash\n{script}", encoding="utf-8")
    done = _tool("shellcheck", str(file))
    assert done.returncode == 0, done.stdout


def _tool(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    beside = Path(sys.executable).with_name(name)
    command = str(beside) if beside.exists() else shutil.which(name)
    if command is None:
        pytest.skip(f"needs {name}")
    return subprocess.run(
        [command, *arguments], capture_output=True, text=True, check=False, cwd=ROOT
    )
