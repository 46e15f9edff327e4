"""What a name means in git, and a copy of a commit's package."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from decider.perf.comparison import commits


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "decider").mkdir()
    (root / "decider" / "__init__.py").write_text("VALUE = 1\n")
    (root / "other.py").write_text("")
    commit(root, "First | <b>")
    git(root, "tag", "v1")
    (root / "decider" / "__init__.py").write_text("VALUE = 2\n")
    commit(root, "Second")
    return root


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), "-c", "user.name=n", "-c", "user.email=e", *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


def test_a_name_becomes_a_commit(repository: Path):
    found = commits.resolve(repository, "v1")
    assert found.name == "v1"
    assert found.hash == git(repository, "rev-parse", "v1")
    assert found.subject == "First | <b>"
    assert commits.resolve(repository, found.hash[:8]).hash == found.hash


@pytest.mark.parametrize("name", ["nowhere", "--help", "", "HEAD:decider", "-1"])
def test_what_names_no_commit_is_refused(repository: Path, name: str):
    with pytest.raises(ValueError, match=r"git log|names no commit"):
        commits.resolve(repository, name)


def test_the_root_is_found_from_below(repository: Path):
    assert commits.repository_root(repository / "decider") == repository


def test_outside_of_a_repository_is_an_error(tmp_path: Path):
    with pytest.raises(ValueError, match="not a git repository"):
        commits.repository_root(tmp_path)


def test_the_package_of_a_commit_is_copied_out_alone(repository: Path, tmp_path: Path):
    found = commits.resolve(repository, "v1")
    source = commits.export(repository, found, tmp_path / "checkouts")
    assert (source / "decider" / "__init__.py").read_text() == "VALUE = 1\n"
    assert not (source / "other.py").exists()
    assert commits.export(repository, found, tmp_path / "checkouts") == source
    assert [path.name for path in (tmp_path / "checkouts").iterdir()] == [found.hash]


def test_a_commit_without_the_package_is_refused_and_leaves_nothing(
    repository: Path, tmp_path: Path
):
    git(repository, "rm", "-q", "decider/__init__.py")
    (repository / "decider").mkdir(exist_ok=True)
    (repository / "decider" / "readme").write_text("")
    commit(repository, "Third")
    with pytest.raises(ValueError, match="has no package 'decider'"):
        commits.export(repository, commits.resolve(repository, "HEAD"), tmp_path / "checkouts")
    assert list((tmp_path / "checkouts").iterdir()) == []


def test_uncommitted_changes_of_the_package_are_seen(repository: Path):
    (repository / "other.py").write_text("changed")
    assert not commits.has_changes(repository)
    (repository / "decider" / "__init__.py").write_text("VALUE = 3\n")
    assert commits.has_changes(repository)


def test_a_commit_that_declares_nothing_asks_for_nothing(repository: Path):
    found = commits.resolve(repository, "HEAD")
    assert commits.dependency_differences(repository, found) == []


def test_other_dependencies_are_named(repository: Path):
    (repository / "pyproject.toml").write_text(
        '[project]\nname = "decider"\nversion = "1"\ndependencies = ["numpy>=99"]\n'
    )
    commit(repository, "Needs a new numpy")
    found = commits.dependency_differences(repository, commits.resolve(repository, "HEAD"))
    assert any("numpy>=99" in line for line in found)
