"""The runtime dependencies that a project declares, as far as they matter on this machine.

They are read from the text of a `pyproject.toml` or from what is installed, in one form, so that
commits can be held against the interpreter that is to measure them. It knows no git and no asv.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

MEASURED_EXTRAS = ("engine", "bench")
"""The optional dependencies that a benchmark may import."""

Dependencies = dict[str, frozenset[str]]
"""What is asked of each package, by its canonical name: `{"torch": {"torch>=2.11"}}`."""


def from_pyproject(text: str) -> Dependencies:
    """The dependencies in the text of a `pyproject.toml`.

    Those of the project itself and of `MEASURED_EXTRAS`, without the ones that a marker excludes
    here (another platform, another Python).

    Raises:
        ValueError: it is not TOML, declares no project, computes its dependencies at build time,
            or holds something that is no requirement.
    """
    project = tomllib.loads(text).get("project")
    if not isinstance(project, dict):
        raise ValueError("pyproject.toml has no [project] table")
    if dynamic := {"dependencies", "optional-dependencies"} & set(project.get("dynamic", [])):
        raise ValueError(f"pyproject.toml computes its {', '.join(sorted(dynamic))} at build time")
    extras = project.get("optional-dependencies", {})
    groups = [project.get("dependencies", []), *(extras.get(name, []) for name in MEASURED_EXTRAS)]
    for group in groups:
        if not isinstance(group, list) or not all(isinstance(item, str) for item in group):
            raise ValueError(f"pyproject.toml: dependencies must be a list of texts, not {group!r}")
    return _by_name(Requirement(item) for group in groups for item in group)


def of_installed(project: str, working_tree: Path) -> Dependencies:
    """The dependencies that the installed `project` declared when it was installed.

    Where it is not installed (its working tree is merely on the path), the ones of the working
    tree's `pyproject.toml`. Build residue in the working tree is not taken for an installation.

    Raises:
        ValueError: neither can be read; the message says what to do.
    """
    path = [entry for entry in sys.path if Path(entry).resolve() != working_tree.resolve()]
    found = next(iter(Distribution.discover(name=project, path=path)), None)
    if found is not None:
        return _by_name(Requirement(item) for item in found.requires or [])
    try:
        return from_pyproject((working_tree / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{project} is not installed beside {sys.executable}, and the working tree does not "
            f"declare its dependencies either ({error}): install it there, with its extra `bench`"
        ) from None


def differences(declared: Dependencies, reference: Dependencies) -> list[str]:
    """One line for each package of which `declared` asks something else than `reference` does."""
    return [
        f"{_listed(declared.get(name))} instead of {_listed(reference.get(name))}"
        for name in sorted(declared.keys() | reference.keys())
        if declared.get(name) != reference.get(name)
    ]


def _by_name(requirements: Iterable[Requirement]) -> Dependencies:
    found: dict[str, set[str]] = {}
    for requirement in _wanted(requirements):
        requirement.name = canonicalize_name(requirement.name)
        requirement.marker = None
        found.setdefault(requirement.name, set()).add(str(requirement))
    return {name: frozenset(texts) for name, texts in found.items()}


def _wanted(requirements: Iterable[Requirement]) -> Iterator[Requirement]:
    extras = ("", *MEASURED_EXTRAS)
    for requirement in requirements:
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
            yield requirement


def _listed(texts: frozenset[str] | None) -> str:
    return " and ".join(sorted(texts)) if texts else "nothing"
