"""The folder that decides where a process imports a package from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from decider.perf.imports_folder import write_imports_folder


def test_a_package_comes_from_its_root_and_from_nowhere_else(tmp_path: Path):
    package = tmp_path / "old" / "decider"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("VALUE = 'old'\n")
    write_imports_folder(tmp_path / "imports", {"decider": str(tmp_path / "old")})
    program = (
        "import decider; print(decider.VALUE)\n"
        "try:\n    import decider.grid\nexcept ModuleNotFoundError: print('nowhere')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "imports")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["old", "nowhere"]
