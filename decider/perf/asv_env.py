"""The asv environment that measures any commit with the interpreter that runs asv.

A plugin of asv (`"plugins": [".decider.perf.asv_env"]`). It checks a commit out and lets every
process that measures it import the project from there; nothing is built or installed, so torch and
everything else is what stands beside asv, a vendor's build included. It knows asv 0.6 and nothing
of the benchmarks or of their results.
"""

from __future__ import annotations

import fcntl
import functools
import io
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from asv import util  # type: ignore[import-untyped]
from asv.benchmarks import Benchmarks  # type: ignore[import-untyped]
from asv.console import log  # type: ignore[import-untyped]
from asv.environment import (  # type: ignore[import-untyped]
    Environment,
    EnvironmentUnavailable,
)

from decider.perf import dependencies
from decider.perf.imports_folder import write_imports_folder

RECORDED_PACKAGES = ("numpy", "torch", "transformers")
"""Their installed versions are recorded with each result. asv keeps results of different versions
apart, in files, graphs and comparisons, instead of comparing them silently."""

# Compiled before anything is timed, or the first benchmark of each commit would pay for it. By
# content and not by time: git may write two commits' files within the same second.
_PROBE = """
import compileall, importlib, py_compile, sys
mode = py_compile.PycInvalidationMode.CHECKED_HASH
compileall.compile_dir(sys.argv[2], quiet=2, invalidation_mode=mode)
found = importlib.import_module(sys.argv[1]).__file__
if not found.startswith(sys.argv[2]):
    sys.exit(f"{sys.argv[1]} was imported from {found}, not from {sys.argv[2]}")
"""


class CommitError(util.ProcessError):  # type: ignore[misc]
    """A commit that cannot be measured. asv marks it as failed and goes on with the next one."""

    def __init__(self, reason: str) -> None:
        super().__init__([], 1, "", reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class CheckoutEnvironment(Environment):  # type: ignore[misc]
    """A checkout of the commit under test, run by the interpreter that runs asv.

    Args:
        conf: asv's configuration.
        python: the version of the interpreter that runs asv ("3.11"), or "same".
        requirements: asv's matrix of packages to install; must be empty.
        tagged_env_vars: asv's matrix of environment variables.

    Raises:
        EnvironmentUnavailable: another Python is asked for, or a package to be installed. asv
            warns and leaves the environment out.
    """

    tool_name = "checkout"

    def __init__(
        self,
        conf: Any,
        python: str,
        requirements: Mapping[str, str],
        tagged_env_vars: Mapping[tuple[str, str], str],
    ) -> None:
        running = f"{sys.version_info.major}.{sys.version_info.minor}"
        if python not in (running, "same"):
            raise EnvironmentUnavailable(
                f"environment type {self.tool_name!r} measures with the Python that runs asv, "
                f"{running}, not with {python!r}: run asv with that one"
            )
        if requirements:
            raise EnvironmentUnavailable(
                f"environment type {self.tool_name!r} installs nothing, but the matrix asks for "
                f"{', '.join(sorted(requirements))}: install it beside asv"
            )
        self._requirements = _recorded_versions()  # asv names the environment before it keeps them
        super().__init__(conf, running, self._requirements, tagged_env_vars)
        self._suite = Path(conf.benchmark_dir).resolve()

    @classmethod
    def matches(cls, python: str) -> bool:
        """Whether `python` is the interpreter that runs asv."""
        return python in ("same", f"{sys.version_info.major}.{sys.version_info.minor}")

    @property
    def installed_commit_hash(self) -> None:
        """Never known, so that asv checks each commit out anew, in each round: it is cheap, and a
        checkout that was interrupted or edited is never measured."""

    @property
    def source(self) -> Path:
        """The folder of the checkout that holds the project's package."""
        return Path(self._build_root, self._repo_subdir)

    def create(self) -> None:
        """Make the environment's folder; there is nothing to install."""
        Path(self._path).mkdir(parents=True, exist_ok=True)

    def install_project(self, conf: Any, repo: Any, commit_hash: str) -> None:  # noqa: ARG002
        """Check the commit out and see that the project is imported from there.

        Raises:
            CommitError: the commit cannot be measured; the log says why.
        """
        try:
            self._check_out(repo, commit_hash)
            self._check_import()
        except util.ProcessError as error:
            log.error(f"commit {commit_hash[:8]} is not measured: {error}")
            raise

    def run(self, args: Sequence[str], **kwargs: Any) -> Any:
        """Run the interpreter with `args`; the project is imported from the checkout.

        Takes and returns what `asv.util.check_output` does. An `ASV_PYTHONPATH` or else a
        `PYTHONPATH` of the caller stays in force behind the checkout.
        """
        environ = {**(kwargs.pop("env", None) or os.environ), **self._global_env_vars}
        inherited = environ.get("ASV_PYTHONPATH") or environ.get("PYTHONPATH") or ""
        folders = [os.path.abspath(folder) for folder in inherited.split(os.pathsep) if folder]
        # asv's own runner drops PYTHONPATH unless it finds ASV_PYTHONPATH beside it.
        path = os.pathsep.join([str(self._imports_folder), *folders])
        environ |= {"PYTHONPATH": path, "ASV_PYTHONPATH": path}
        return util.check_output([sys.executable, *args], env=environ, **kwargs)

    @property
    def _imports_folder(self) -> Path:
        return Path(self._path, "imports")

    def _check_out(self, repo: Any, commit_hash: str) -> None:
        self.checkout_project(repo, commit_hash)
        if not (self.source / self._project / "__init__.py").is_file():
            raise CommitError(f"it has no package {self._project!r}")
        try:
            text = (self.source / "pyproject.toml").read_text(encoding="utf-8")
            dependencies.from_pyproject(text)
        except (OSError, ValueError) as error:
            raise CommitError(f"its dependencies cannot be read: {error}") from None

    def _check_import(self) -> None:
        roots = {self._project: str(self.source), self._suite.name: str(self._suite.parent)}
        write_imports_folder(self._imports_folder, roots)
        package = self.source / self._project
        _, stderr, code = self.run(
            ["-c", _PROBE, self._project, str(package)],
            cwd=self._path,
            dots=False,
            display_error=False,
            return_stderr=True,
            valid_return_codes=None,
        )
        if code != 0:
            raise CommitError(f"`import {self._project}` fails there\n{stderr.strip()}")


def setup() -> None:
    """Have every range checked before asv discovers and measures anything. asv calls this once."""
    discover = Benchmarks.discover.__func__
    if getattr(discover, "checks_ranges", False):
        return

    @functools.wraps(discover)
    def checked_discover(
        cls: Any, conf: Any, repo: Any, environments: Any, commits: Any, *args: Any, **kwargs: Any
    ) -> Any:
        ours = [env for env in environments if isinstance(env, CheckoutEnvironment)]
        for folder in dict.fromkeys(env._path for env in ours):
            _hold(Path(folder))
        if ours:
            _refuse_other_dependencies(conf, repo._path, commits)
        return discover(cls, conf, repo, environments, commits, *args, **kwargs)

    checked_discover.checks_ranges = True  # type: ignore[attr-defined]
    Benchmarks.discover = classmethod(checked_discover)


_held: dict[Path, int] = {}


def _hold(folder: Path) -> None:
    """Keep `folder` for this process: a second asv would check another commit out under us."""
    if folder in _held:
        return
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise util.UserError(
            f"another asv is measuring in {folder}: wait for it, or give this one its own `env_dir`"
        ) from None
    _held[folder] = handle  # open until the process ends, which frees the lock however it ends


def _refuse_other_dependencies(conf: Any, repository: str, commits: Sequence[str]) -> None:
    """Raise a UserError when a commit declares other dependencies than the installed project."""
    try:
        installed = dependencies.of_installed(conf.project, Path.cwd())
    except ValueError as error:
        raise util.UserError(str(error)) from None
    differing: dict[str, list[str]] = {}
    for commit, text in _pyprojects(repository, conf.repo_subdir, commits):
        try:
            lines = dependencies.differences(dependencies.from_pyproject(text), installed)
        except ValueError:
            continue  # a broken commit: it fails by itself and does not stop the range
        for line in lines:
            differing.setdefault(line, []).append(commit[:8])
    if differing:
        raise util.UserError(_refusal(conf.project, differing, len(commits)))


def _pyprojects(repository: str, folder: str, commits: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Each commit that has a `pyproject.toml`, and its text, from a single git process."""
    commits = list(commits)
    name = str(Path(folder, "pyproject.toml"))
    done = subprocess.run(
        ["git", "-C", repository, "cat-file", "--batch"],
        input="".join(f"{commit}:{name}\n" for commit in commits).encode(),
        stdout=subprocess.PIPE,
        check=False,  # a damaged object ends it early; that commit fails by itself, later
    )
    output = io.BytesIO(done.stdout)
    for commit in commits:
        header = output.readline().split()
        if len(header) != 3:  # "... missing", or the end
            continue
        yield commit, output.read(int(header[2])).decode(errors="replace")
        output.readline()


def _refusal(project: str, differing: Mapping[str, Sequence[str]], total: int) -> str:
    commits = list(dict.fromkeys(commit for found in differing.values() for commit in found))
    lines = [f"  {line} ({_some(found)})" for line, found in sorted(differing.items())]
    folder = f"../{project}-{commits[0]}"
    return "\n".join(
        [
            f"{len(commits)} of {total} commits declare other dependencies than the {project} "
            f"installed beside {sys.executable}:",
            *lines,
            "Nothing is installed between commits, so this interpreter cannot measure them. Leave "
            "them out of the range; if the installed ones are out of date, install the working "
            "tree again; or measure them apart, with an interpreter that has their dependencies:",
            f"  git worktree add {folder} {commits[0]}",
            f"  python3 -m venv {folder}/.venv",
            f"  {folder}/.venv/bin/pip install '{folder}[bench]'",
            f"  {folder}/.venv/bin/python -m asv run '{commits[0]}^!'",
        ]
    )


def _some(commits: Sequence[str]) -> str:
    shown = ", ".join(commits[:4])
    return f"{shown} and {len(commits) - 4} more" if len(commits) > 4 else shown


def _recorded_versions() -> dict[str, str]:
    found = {}
    for package in RECORDED_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
