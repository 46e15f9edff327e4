"""Declared dependencies: read alike from a pyproject and from what is installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.perf.dependencies import differences, from_pyproject, of_installed

PYPROJECT = """
[project]
name = "thing"
dependencies = ["click >= 8.1", "Zope.Interface", "elsewhere; sys_platform == 'win32'"]
[project.optional-dependencies]
engine = ["torch>=2.11"]
bench = ["thing[engine]", "asv==0.6.6"]
serve = ["fastapi"]
"""

METADATA = """Metadata-Version: 2.1
Name: thing
Version: 1
Provides-Extra: engine
Requires-Dist: zope-interface
Requires-Dist: click>=8.1
Requires-Dist: elsewhere; sys_platform == "win32"
Requires-Dist: torch>=2.11; extra == "engine"
Requires-Dist: thing[engine]; extra == "bench"
Requires-Dist: asv==0.6.6; extra == "bench"
Requires-Dist: fastapi; extra == "serve"
"""

DECLARED = {
    "click": {"click>=8.1"},
    "zope-interface": {"zope-interface"},
    "torch": {"torch>=2.11"},
    "thing": {"thing[engine]"},
    "asv": {"asv==0.6.6"},
}

packages = st.dictionaries(
    st.sampled_from(["numpy", "torch", "click", "rich"]),
    st.lists(st.sampled_from([">=1", "<9", "!=3"]), unique=True),
)


def written(requirements: list[str]) -> str:
    return f'[project]\nname = "thing"\ndependencies = {requirements!r}\n'


def test_a_pyproject_gives_what_its_benchmarks_may_import() -> None:
    assert from_pyproject(PYPROJECT) == DECLARED


def test_an_installed_project_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "thing-1.dist-info").mkdir()
    (tmp_path / "thing-1.dist-info/METADATA").write_text(METADATA)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert of_installed("thing", tmp_path / "tree") == DECLARED


def test_build_residue_in_the_working_tree_is_no_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "thing.egg-info").mkdir()
    (tmp_path / "thing.egg-info/PKG-INFO").write_text(METADATA)
    (tmp_path / "pyproject.toml").write_text(written(["rich"]))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert of_installed("thing", tmp_path) == {"rich": {"rich"}}


def test_a_project_that_is_not_installed_and_declares_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"thing is not installed beside .*: install it there"):
        of_installed("thing", tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", r"no \[project\] table"),
        ("[project", "Expected"),
        ('[project]\ndynamic = ["dependencies"]', "computes its dependencies at build time"),
        ('[project]\ndependencies = "numpy"', "must be a list of texts, not 'numpy'"),
        ("[project]\ndependencies = [1]", r"must be a list of texts, not \[1\]"),
        ('[project]\ndependencies = ["="]', "Expected"),
    ],
)
def test_an_unreadable_pyproject_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        from_pyproject(text)


def test_differences_name_what_is_asked_on_both_sides() -> None:
    declared = from_pyproject(written(["numpy>=2", "rich"]))
    reference = from_pyproject(written(["numpy>=1", "torch>=2.11", "rich"]))
    assert differences(declared, reference) == [
        "numpy>=2 instead of numpy>=1",
        "nothing instead of torch>=2.11",
    ]


@given(packages=packages, data=st.data())
def test_order_and_spelling_make_no_difference(
    packages: dict[str, list[str]], data: st.DataObject
) -> None:
    plain = [name + ",".join(bounds) for name, bounds in packages.items()]
    shuffled = data.draw(st.permutations(list(packages.items())))
    spelt = [
        f"{name.upper()} {' , '.join(data.draw(st.permutations(bounds)))}"
        for name, bounds in shuffled
    ]
    assert not differences(from_pyproject(written(plain)), from_pyproject(written(spelt)))


@given(one=packages, other=packages)
def test_there_are_differences_exactly_where_the_declarations_differ(
    one: dict[str, list[str]], other: dict[str, list[str]]
) -> None:
    read = [
        from_pyproject(written([name + ",".join(bounds) for name, bounds in found.items()]))
        for found in (one, other)
    ]
    same = {name: set(bounds) for name, bounds in one.items()} == {
        name: set(bounds) for name, bounds in other.items()
    }
    assert (differences(*read) == []) is same
