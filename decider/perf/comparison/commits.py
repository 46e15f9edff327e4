"""The commits of a comparison: what a name means in git, and a copy of a commit's package.

Knows git and folders; knows no process that measures.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from decider.perf import dependencies

PACKAGE = "decider"


@dataclass(frozen=True)
class Commit:
    """A commit.

    Attributes:
        name: as it was given.
        hash: all 40 digits.
        subject: the first line of its message.
        date: when it was committed, ISO 8601.
    """

    name: str
    hash: str
    subject: str
    date: str


def repository_root(start: Path) -> Path:
    """The working tree around `start`.

    Raises:
        ValueError: there is none.
    """
    return Path(_git(start, "rev-parse", "--show-toplevel").decode().strip())


def resolve(repository: Path, name: str) -> Commit:
    """The commit that `name` means: a branch, a tag, a hash or its beginning.

    Raises:
        ValueError: it means none; the message says so.
    """
    found = _git(
        repository,
        *("log", "-1", "--no-show-signature", "--format=%H%x00%cI%x00%s"),
        *("--end-of-options", f"{name}^{{commit}}", "--"),
    )
    fields = found.decode(errors="replace").strip("\n").split("\0")
    if len(fields) != 3:
        raise ValueError(f"{name!r} names no commit of {repository}")
    return Commit(name, fields[0], fields[2], fields[1])


def has_changes(repository: Path) -> bool:
    """Whether tracked files of the package differ from the last commit."""
    return bool(_git(repository, "status", "--porcelain", "--untracked-files=no", "--", PACKAGE))


def export(repository: Path, commit: Commit, folder: Path) -> Path:
    """Copy the commit's package below `folder`, once; return the folder that holds the package.

    Raises:
        ValueError: the commit has no package.
        OSError: it cannot be written; nothing half-written is left.
    """
    target = folder / commit.hash
    if target.is_dir():
        return target
    archive = _git(repository, "archive", "--format=tar", commit.hash, "--", PACKAGE)
    folder.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder, prefix=f".{commit.hash[:8]}."))
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(temporary, filter="data")
        if not (temporary / PACKAGE / "__init__.py").is_file():
            raise ValueError(f"commit {commit.hash[:8]} has no package {PACKAGE!r}")
        try:
            os.rename(temporary, target)
        except OSError:
            if not target.is_dir():  # another process may have been first
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def dependency_differences(repository: Path, commit: Commit) -> list[str]:
    """What the commit needs installed and this interpreter does not have, a line each.

    Raises:
        ValueError: the commit's dependencies cannot be read.
    """
    try:
        text = _git(repository, "show", f"{commit.hash}:pyproject.toml").decode(errors="replace")
    except ValueError:
        return []  # a commit that declares nothing asks for nothing
    installed = dependencies.of_installed(PACKAGE, repository)
    return dependencies.differences(dependencies.from_pyproject(text), installed)


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, check=False
        )
    except OSError as error:
        raise ValueError(f"git cannot be run: {error.strerror}") from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip()
        raise ValueError(f"git {arguments[0]} in {folder}: {reason}")
    return done.stdout
