"""Real asv, on throwaway repositories whose commits differ in the value of `decider.VALUE`.

Each repository has a working tree that is newer than all its commits, and an editable install of
that working tree which answers for every module, so that a commit which is not imported from its
own checkout is found out.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from asv.config import Config
from asv.environment import EnvironmentUnavailable

from decider.perf.asv_env import CheckoutEnvironment

ROOT = Path(__file__).parents[2]

SUITE = '''
import multiprocessing
import os
import subprocess
import sys

import vendored  # from the caller's PYTHONPATH, as a vendor's torch may be

import decider


def value():
    return decider.VALUE


class Commit:
    def track_value(self):
        assert os.environ["ASV_COMMIT"]
        return {"samples": [decider.VALUE], "number": 1}

    def track_module_of_the_working_tree(self):
        """1 where a module that no commit has can be imported nevertheless."""
        try:
            import decider.newer
        except ModuleNotFoundError:
            return 0
        return 1

    def track_child_processes(self):
        code = "import decider; print(decider.VALUE)"
        printed = subprocess.check_output([sys.executable, "-c", code])
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            pooled = pool.apply(value)
        return {"samples": [int(printed), pooled], "number": 1}


class Cached:
    def setup_cache(self):
        return decider.VALUE

    def track_cached_value(self, cached):
        return {"samples": [cached], "number": 1}
'''

EDITABLE_INSTALL = """
import sys
from importlib.machinery import PathFinder

class EditableFinder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "decider":
            root = {tree!r}
            return PathFinder.find_spec(name, [root + "/decider" if "." in name else root])

sys.meta_path.insert(0, EditableFinder())
"""

VALUE_NAME = "suite.Commit.track_value"
NEWER_NAME = "suite.Commit.track_module_of_the_working_tree"
CHILDREN_NAME = "suite.Commit.track_child_processes"
CACHED_NAME = "suite.Cached.track_cached_value"


@dataclass
class Repository:
    """A throwaway repository in `tree`, and asv run on it with `environ`."""

    tree: Path
    environ: dict[str, str]

    def git(self, *args: str) -> str:
        command = ["git", *args]
        return subprocess.check_output(command, cwd=self.tree, env=self.environ, text=True).strip()

    def commit(self, files: dict[str, str | None]) -> str:
        """Write the files, or remove the ones that are None, and commit them."""
        for name, text in files.items():
            path = self.tree / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", *files)
        self.git("commit", "--quiet", "--message", "change")
        return self.git("rev-parse", "HEAD")

    def commit_value(self, value: int) -> str:
        return self.commit({"decider/__init__.py": f"VALUE = {value}\n"})

    def asv(self, *args: str, code: int = 0) -> str:
        """Run asv and give what it says; `code` is the exit status that it must have."""
        done = subprocess.run(
            [sys.executable, "-m", "asv", *args],
            cwd=self.tree,
            env=self.environ,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    def measured(self, commit: str) -> dict[str, Any]:
        """What asv saved for the commit: `results`, `params` and the rest of its file."""
        (file,) = (self.tree / ".asv/results/tested").glob(f"{commit[:8]}-*.json")
        return json.loads(file.read_text())

    def result(self, commit: str, benchmark: str) -> Any:
        """The stored value of a benchmark without parameters; None where it failed."""
        results = self.measured(commit)["results"][benchmark]
        return None if results is None or results[0] is None else results[0][0]

    def samples(self, commit: str, benchmark: str) -> list[float]:
        measured = self.measured(commit)
        columns = dict(
            zip(measured["result_columns"], measured["results"][benchmark], strict=False)
        )
        return columns["samples"][0]

    def is_measured(self, commit: str) -> bool:
        return bool(list((self.tree / ".asv/results/tested").glob(f"{commit[:8]}-*.json")))


def pyproject(*requirements: str) -> str:
    listed = ", ".join(f'"{item}"' for item in requirements)
    return f'[project]\nname = "decider"\ndependencies = [{listed}]\n'


def make_repository(folder: Path) -> Repository:
    """A repository with a suite, this project's asv configuration, and one commit of value 1."""
    tree, home, installed = folder / "tree", folder / "home", folder / "installed"
    metadata = installed / "decider-1.dist-info" / "METADATA"
    for made in (tree, home, metadata.parent):
        made.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.1\nName: decider\nVersion: 1\nRequires-Dist: numpy\n")
    (installed / "vendored.py").touch()
    (installed / "sitecustomize.py").write_text(EDITABLE_INSTALL.format(tree=str(tree)))
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "ASV"))}
    environ = kept | {
        "HOME": str(home),
        "PYTHONPATH": str(installed),
        "OMP_NUM_THREADS": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{f"GIT_{who}_NAME": "Tester" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "tester@example.com" for who in ("AUTHOR", "COMMITTER")},
    }
    repository = Repository(tree, environ)
    repository.git("init", "--quiet", "--initial-branch", "main")
    repository.commit({"decider/__init__.py": "VALUE = 1\n", "pyproject.toml": pyproject("numpy")})
    machine = {"machine": "tested", "os": "", "arch": "", "cpu": "", "num_cpu": "1", "ram": ""}
    (home / ".asv-machine.json").write_text(json.dumps({"tested": machine, "version": 1}))
    shutil.copy(ROOT / "asv.conf.json", tree)
    (tree / "benchmarks").mkdir()
    (tree / "benchmarks/__init__.py").touch()
    (tree / "benchmarks/suite.py").write_text(SUITE)
    return repository


def make_working_tree_newer(repository: Repository) -> None:
    """Leave uncommitted work behind, which no measured commit may see."""
    package = repository.tree / "decider"
    (package / "__init__.py").write_text("VALUE = 99\n")
    (package / "newer.py").touch()
    (package / "perf").mkdir()
    modules = ("asv_env", "checkout_imports", "imports_folder")
    for name in ("files", "perf/__init__", *(f"perf/{module}" for module in modules)):
        shutil.copy(ROOT / f"decider/{name}.py", package / f"{name}.py")
    shutil.copy(ROOT / "decider/perf/dependencies.py", package / "perf")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, dict[str, str]]:
    """Commits that are sound, broken in several ways, and of other dependencies."""
    repository = make_repository(tmp_path_factory.mktemp("history"))
    commits = {"one": repository.git("rev-parse", "HEAD")}
    commits["syntax error"] = repository.commit({"decider/__init__.py": "VALUE =\n"})
    commits["no package"] = repository.commit({"decider/__init__.py": None})
    commits["unreadable"] = repository.commit(
        {"decider/__init__.py": "VALUE = 2\n", "pyproject.toml": "[project\n"}
    )
    commits["lost file"] = repository.commit({"big.txt": "lost\n"})
    blob = repository.git("rev-parse", "HEAD:big.txt")
    repository.commit({"big.txt": None})
    (repository.tree / ".git/objects" / blob[:2] / blob[2:]).unlink()
    commits["two"] = repository.commit({"pyproject.toml": pyproject("numpy")})
    commits["other dependencies"] = repository.commit({"pyproject.toml": pyproject("numpy>=2")})
    commits["three"] = repository.commit(
        {"decider/__init__.py": "VALUE = 3\n", "pyproject.toml": pyproject("numpy")}
    )
    make_working_tree_newer(repository)
    return repository, commits


@pytest.fixture(scope="module")
def ranged(history: tuple[Repository, dict[str, str]]) -> tuple[Repository, dict[str, str], str]:
    """All commits up to the second sound one, measured; with what asv said."""
    repository, commits = history
    said = repository.asv("run", commits["two"], code=2)
    return repository, commits, said


def test_a_range_imports_each_commit_from_its_own_checkout(ranged: Any) -> None:
    repository, commits, _ = ranged
    for name, value in (("one", 1), ("two", 2)):
        assert repository.result(commits[name], VALUE_NAME) == value
        assert repository.result(commits[name], CACHED_NAME) == value
        assert repository.result(commits[name], CHILDREN_NAME) == value


def test_a_module_that_the_commit_lacks_is_not_taken_from_the_working_tree(ranged: Any) -> None:
    repository, commits, _ = ranged
    assert repository.result(commits["one"], NEWER_NAME) == 0
    assert repository.result(commits["two"], NEWER_NAME) == 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("syntax error", "`import decider` fails there"),
        ("no package", "it has no package 'decider'"),
        ("unreadable", "its dependencies cannot be read"),
        ("lost file", "Command "),
    ],
)
def test_a_broken_commit_fails_with_its_reason(ranged: Any, name: str, reason: str) -> None:
    repository, commits, said = ranged
    assert repository.result(commits[name], VALUE_NAME) is None
    assert f"commit {commits[name][:8]} is not measured: {reason}" in said


def test_the_traceback_of_a_broken_commit_is_shown(ranged: Any) -> None:
    assert "SyntaxError" in ranged[2]


def test_results_carry_the_versions_that_they_were_measured_with(ranged: Any) -> None:
    repository, commits, _ = ranged
    params = repository.measured(commits["one"])["params"]
    assert params["python"] == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert set(params) >= {"numpy", "torch"}


def test_publish_and_compare_read_the_results(ranged: Any) -> None:
    repository, commits, _ = ranged
    said = repository.asv("compare", commits["one"], commits["two"], "--machine", "tested")
    assert VALUE_NAME in said
    repository.asv("publish", "--no-pull")
    assert (repository.tree / ".asv/html/index.json").is_file()


def test_a_range_with_other_dependencies_is_refused_before_anything_is_measured(
    history: tuple[Repository, dict[str, str]],
) -> None:
    repository, commits = history
    said = repository.asv("run", f"{commits['two']}..main", code=1)
    assert "1 of 2 commits declare other dependencies than the decider installed" in said
    assert f"numpy>=2 instead of numpy ({commits['other dependencies'][:8]})" in said
    assert f"git worktree add ../decider-{commits['other dependencies'][:8]}" in said
    assert not repository.is_measured(commits["three"])


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Two commits, of values 1 and 2, below a newer working tree."""
    repository = make_repository(tmp_path)
    repository.commit_value(2)
    make_working_tree_newer(repository)
    return repository


def test_forkserver_imports_each_commit_from_its_own_checkout(repository: Repository) -> None:
    repository.asv("run", "ALL", "--launch-method", "forkserver")
    for revision, value in (("main~1", 1), ("main", 2)):
        commit = repository.git("rev-parse", revision)
        assert repository.result(commit, VALUE_NAME) == value
        assert repository.result(commit, CACHED_NAME) == value
        assert repository.result(commit, CHILDREN_NAME) == value
        assert repository.result(commit, NEWER_NAME) == 0


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, str]:
    """Two commits, of values 1 and 2, that asv has compared in rounds; with what it said."""
    repository = make_repository(tmp_path_factory.mktemp("compared"))
    repository.commit_value(2)
    make_working_tree_newer(repository)
    rounds = ("--interleave-rounds", "--attribute", "rounds=2", "--record-samples")
    said = repository.asv("continuous", "main~1", "main", *rounds, "--bench", CACHED_NAME, code=1)
    return repository, said


def test_continuous_compares_two_commits(compared: tuple[Repository, str]) -> None:
    assert "PERFORMANCE DECREASED" in compared[1]


def test_interleaved_rounds_switch_between_the_checkouts(compared: tuple[Repository, str]) -> None:
    repository, said = compared
    assert "(round 2/2)" in said
    assert repository.samples(repository.git("rev-parse", "main~1"), CACHED_NAME) == [1, 1]
    assert repository.samples(repository.git("rev-parse", "main"), CACHED_NAME) == [2, 2]


def test_new_measures_only_what_has_come_since(compared: tuple[Repository, str]) -> None:
    repository, _ = compared
    repository.git("commit", "--quiet", "--allow-empty", "--message", "change")
    said = repository.asv("run", "NEW", "--quick", "--bench", VALUE_NAME)
    assert "(1 commits * 1 environments * 1 benchmarks)" in said
    assert repository.result(repository.git("rev-parse", "main"), VALUE_NAME) == 2


def test_a_second_asv_in_the_same_folder_is_refused(ranged: Any) -> None:
    repository, commits, _ = ranged
    (folder,) = (repository.tree / ".asv/env").iterdir()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = repository.asv("run", commits["one"], code=1)
    assert f"another asv is measuring in {folder}" in said


def test_another_python_is_refused() -> None:
    with pytest.raises(EnvironmentUnavailable, match=r"Python that runs asv, .* not with '2\.7'"):
        CheckoutEnvironment(Config(), "2.7", {}, {})


def test_a_package_to_install_is_refused() -> None:
    with pytest.raises(EnvironmentUnavailable, match=r"installs nothing, but .* asks for torch"):
        CheckoutEnvironment(Config(), "same", {"torch": "2.0"}, {})
