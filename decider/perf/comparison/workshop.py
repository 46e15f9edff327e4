"""Where a comparison is made: the repository, the copies of its commits, and their arms.

Knows git, folders and processes; knows no pairs and no verdicts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decider.perf.comparison import commits
from decider.perf.comparison.arm import LAST_WORDS, ProcessArm
from decider.perf.comparison.commits import Commit
from decider.perf.comparison.document import check_self_test
from decider.perf.comparison.pair import SIDES, Side
from decider.perf.comparison.self_test import added_up
from decider.perf.imports_folder import write_imports_folder

COMPARISONS = Path(".asv", "comparisons")
SELF_TESTS = Path(".asv", "self-tests")
BENCHMARKS = "benchmarks"
EXACT_SECONDS = 600.0


@dataclass(frozen=True)
class Workshop:
    """Starts the arms of two commits with the benchmarks of the working tree.

    Args:
        repository: the working tree.
        base, head: the commits.
        profile: which cells.
        delay: share by which head's forwards are slowed, for the self-test.
    """

    repository: Path
    base: Commit
    head: Commit
    profile: str
    delay: float = 0.0

    def prepare(self) -> None:
        """Copy both commits out and write what decides the imports.

        Raises:
            ValueError: a commit has no package or needs other packages than there are, or the
                working tree has no benchmarks; the message says which.
        """
        if not (self.repository / BENCHMARKS / "arm.py").is_file():
            raise ValueError(f"{self.repository} has no {BENCHMARKS}/arm.py: run in a checkout")
        for side in SIDES:
            commit = self._commit(side)
            lacking = commits.dependency_differences(self.repository, commit)
            if lacking:
                raise ValueError(
                    f"{side}, commit {commit.hash[:8]}, declares other dependencies than are "
                    f"installed beside {sys.executable}: {'; '.join(lacking)}; install it in an "
                    "environment of its own and compare there"
                )
            source = commits.export(self.repository, commit, self._folder / "checkouts")
            roots = {commits.PACKAGE: str(source), BENCHMARKS: str(self.repository)}
            write_imports_folder(self._imports(side), roots)

    def start(self, side: Side) -> ProcessArm:
        """The arm of a side, starting."""
        delay = ["--delay", repr(self.delay)] if self.delay and side == "head" else []
        return ProcessArm(
            ["-m", "benchmarks.arm", "--profile", self.profile, *delay],
            self._imports(side),
            self._folder,
        )

    def exact_figures(self, side: Side) -> dict[str, Any]:
        """What `benchmarks.exact_figures` says of a side; a note where it says nothing."""
        try:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.exact_figures"],
                cwd=self._folder,
                env=self._imports_environment(side),
                capture_output=True,
                timeout=EXACT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return _no_figures(f"no exact figures within {EXACT_SECONDS:g} s")
        if done.returncode:
            words = done.stderr.decode(errors="replace").strip()[-LAST_WORDS:]
            return _no_figures(f"exact figures ended with status {done.returncode}: {words}")
        try:
            found: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            return _no_figures("exact figures are no JSON")
        return found

    @property
    def _folder(self) -> Path:
        return self.repository / COMPARISONS

    def _imports(self, side: Side) -> Path:
        return self._folder / "imports" / self._commit(side).hash

    def _imports_environment(self, side: Side) -> Mapping[str, str]:
        return {**os.environ, "PYTHONPATH": str(self._imports(side))}

    def _commit(self, side: Side) -> Commit:
        return self.base if side == "base" else self.head


def newest_self_test(folder: Path, machine: str) -> dict[str, Any] | None:
    """The newest self-test of a machine, with those like it added up.

    What cannot be read in the folder is passed over.
    """
    found: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*.json")):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            check_self_test(document)
        except (OSError, ValueError):
            continue
        if document["machine"] == machine:
            found.append(document)
    return added_up(found) if found else None


def default_cpus(allowed: Sequence[int], threads: int = 1) -> list[int]:
    """The processors to pin both arms to: the last ones; none where that would be all of them."""
    return sorted(allowed)[-threads:] if len(allowed) > threads else []


def _no_figures(note: str) -> dict[str, Any]:
    return {"figures": {}, "traffic": {}, "note": note, "failed": True}
