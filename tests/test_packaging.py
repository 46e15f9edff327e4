"""Every package of the source tree is one that is installed."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_package_is_listed():
    found = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "decider").rglob("__init__.py")
    }
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(listed["tool"]["setuptools"]["packages"]) == found
