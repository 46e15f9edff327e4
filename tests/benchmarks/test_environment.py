"""What a result is said to be measured on."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from benchmarks.environment import (
    COMMIT_VARIABLE,
    MACHINE_VARIABLE,
    THREAD_VARIABLES,
    commit_of,
    cpu_name,
    environment,
    pin_threads,
)

FIELDS = (
    *("machine", "cpu", "gpu", "driver", "torch", "transformers", "python", "numpy", "threads"),
    *("allocator", "commit", "dirty", "time", "seed"),
)


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_it_has_every_field_as_strict_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MACHINE_VARIABLE, "bench-1")
    found = environment(threads=2, allocator="glibc", seed=7, driver=None)
    assert set(found) == set(FIELDS)
    assert (found["machine"], found["threads"], found["seed"]) == ("bench-1", 2, 7)
    assert datetime.fromisoformat(found["time"]).tzinfo is not None
    json.dumps(found, allow_nan=False)


def test_the_commit_is_that_of_the_folder_and_tracked_changes_make_it_dirty(
    tmp_path: Path,
) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "one")
    head = git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "untracked").write_text("2")
    assert commit_of(tmp_path) == (head, False)
    (tmp_path / "a").write_text("2")
    assert commit_of(tmp_path) == (head, True)


def test_without_git_metadata_the_commit_is_what_the_variable_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.delenv(COMMIT_VARIABLE, raising=False)
    assert commit_of(tmp_path) == (None, None)
    monkeypatch.setenv(COMMIT_VARIABLE, "abc")
    assert commit_of(tmp_path) == ("abc", None)


def test_without_git_itself_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(COMMIT_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit_of(tmp_path) == (None, None)


def test_the_cpu_is_named_as_the_system_names_it(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: again\n")
    assert cpu_name(info) == "Some CPU @ 2 GHz"
    assert cpu_name(tmp_path / "missing") != ""


def test_threads_are_pinned_for_libraries_loaded_later(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in THREAD_VARIABLES:
        monkeypatch.setenv(name, "9")
    pin_threads(1)
    assert {os.environ[name] for name in THREAD_VARIABLES} == {"1"}
