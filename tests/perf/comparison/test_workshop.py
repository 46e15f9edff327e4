"""Where the arms of two commits come from."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from decider.perf.comparison import commits
from decider.perf.comparison.workshop import Workshop, default_cpus

ARM = """
import decider, json, sys
print(json.dumps({"value": decider.VALUE, "arguments": sys.argv[1:]}), flush=True)
sys.stdin.read()
"""
EXACT = """
import decider, json
assert decider.VALUE < 3, "a plan is above per-bucket"
print(json.dumps({"figures": {"q": {"cost": decider.VALUE}}, "traffic": {}, "note": None}))
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits with VALUE 1 and 2, and 3 in the working tree; benchmarks of the newest only."""
    root = tmp_path / "repository"
    (root / "decider").mkdir(parents=True)
    git(root, "init", "-q")
    for value in (1, 2):
        (root / "decider" / "__init__.py").write_text(f"VALUE = {value}\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", str(value))
    (root / "decider" / "__init__.py").write_text("VALUE = 3\n")
    (root / "benchmarks").mkdir()
    (root / "benchmarks" / "__init__.py").write_text("")
    (root / "benchmarks" / "arm.py").write_text(ARM)
    (root / "benchmarks" / "exact_figures.py").write_text(EXACT)
    return root


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-C", str(root), "-c", "user.name=n", "-c", "user.email=e", *arguments],
        check=True,
        capture_output=True,
    )


def workshop(root: Path, **options) -> Workshop:
    base, head = commits.resolve(root, "HEAD~1"), commits.resolve(root, "HEAD")
    return Workshop(root, base, head, "quick", **options)


def test_each_arm_holds_its_own_commit_and_the_current_benchmarks(repository: Path):
    made = workshop(repository)
    made.prepare()
    for side, value in (("base", 1), ("head", 2)):
        arm = made.start(side)
        try:
            assert arm.hello(30)["value"] == value
        finally:
            arm.close()


def test_only_head_is_delayed(repository: Path):
    made = workshop(repository, delay=0.05)
    made.prepare()
    arguments = {}
    for side in ("base", "head"):
        arm = made.start(side)
        try:
            arguments[side] = arm.hello(30)["arguments"]
        finally:
            arm.close()
    assert arguments == {
        "base": ["--profile", "quick"],
        "head": ["--profile", "quick", "--delay", "0.05"],
    }


def test_exact_figures_are_of_the_commit(repository: Path):
    made = workshop(repository)
    made.prepare()
    assert made.exact_figures("base")["figures"]["q"]["cost"] == 1
    assert made.exact_figures("head")["figures"]["q"]["cost"] == 2


def test_figures_that_fail_are_a_note(repository: Path):
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "3")
    made = workshop(repository)
    made.prepare()
    found = made.exact_figures("head")
    assert found["figures"] == {}
    assert found["failed"]
    assert "a plan is above per-bucket" in found["note"]


def test_a_checkout_without_the_arm_is_refused(repository: Path):
    (repository / "benchmarks" / "arm.py").unlink()
    with pytest.raises(ValueError, match=r"has no benchmarks/arm\.py"):
        workshop(repository).prepare()


def test_a_commit_that_needs_other_packages_is_refused_by_name(repository: Path):
    (repository / "pyproject.toml").write_text(
        '[project]\nname = "decider"\nversion = "1"\ndependencies = ["numpy>=99"]\n'
    )
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "numpy 99")
    with pytest.raises(ValueError, match=r"head, commit .*numpy>=99"):
        workshop(repository).prepare()


@pytest.mark.parametrize(
    ("allowed", "expected"), [([0, 1], [1]), ([3, 1, 2], [3]), ([0], []), ([], [])]
)
def test_arms_share_the_last_processor_unless_it_is_the_only_one(allowed, expected):
    assert default_cpus(allowed) == expected
