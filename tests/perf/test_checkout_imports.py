"""Imports in fresh processes: a copy of the module as `sitecustomize.py` decides where from."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from decider.perf import checkout_imports
from decider.perf.checkout_imports import CheckoutFinder

Python = Callable[[str], str]


@pytest.fixture
def python(tmp_path: Path) -> Python:
    """Run code where `pack` is in a checkout, and in another folder that stands on the path."""
    for folder in ("checkout", "other", "imports"):
        (tmp_path / folder / "pack").mkdir(parents=True)
    for folder in ("checkout", "other"):
        (tmp_path / folder / "pack/__init__.py").write_text(f"PLACE = {folder!r}\n")
    (tmp_path / "other/pack/newer.py").touch()
    (tmp_path / "other/unrelated.py").write_text("PLACE = 'other'\n")
    (tmp_path / "other/sitecustomize.py").write_text("import sys\nsys.hidden_one_ran = True\n")
    imports = tmp_path / "imports"
    copied = Path(checkout_imports.__file__).read_text()
    roots = {"pack": str(tmp_path / "checkout")}
    (imports / "sitecustomize.py").write_text(f"{copied}\ninstall({roots!r}, {str(imports)!r})\n")
    path = os.pathsep.join([str(imports), str(tmp_path / "other")])

    def run(code: str) -> str:
        return subprocess.check_output(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": path},
            cwd=tmp_path / "other",
            text=True,
        ).strip()

    return run


def test_the_package_comes_from_the_checkout(python: Python) -> None:
    assert python("import pack; print(pack.PLACE)") == "checkout"


def test_a_module_that_the_checkout_lacks_is_found_nowhere(python: Python) -> None:
    code = "try:\n import pack.newer\nexcept ModuleNotFoundError as error:\n print(error.name)"
    assert python(code) == "pack.newer"


def test_everything_else_is_imported_as_ever(python: Python) -> None:
    assert python("import unrelated; print(unrelated.PLACE)") == "other"


def test_the_hidden_sitecustomize_runs_too(python: Python) -> None:
    assert python("import sys; print(sys.hidden_one_ran)") == "True"


def test_the_checkout_wins_where_the_hidden_sitecustomize_fails(
    python: Python, tmp_path: Path
) -> None:
    (tmp_path / "other/sitecustomize.py").write_text("raise RuntimeError('broken')\n")
    assert python("import pack; print(pack.PLACE)") == "checkout"


def test_a_name_that_merely_begins_alike_is_not_touched(tmp_path: Path) -> None:
    assert CheckoutFinder({"pack": str(tmp_path)}).find_spec("package") is None


def test_it_needs_the_standard_library_only() -> None:
    spec = find_spec("decider.perf.checkout_imports")
    assert spec is not None
    assert spec.origin is not None
    code = (
        "import runpy, sys; before = set(sys.modules); "
        f"runpy.run_path({spec.origin!r}); "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
