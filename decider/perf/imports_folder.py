"""The folder that, first on `PYTHONPATH`, makes a process import packages from chosen folders.

Knows `checkout_imports`, whose copy it writes; knows no asv and no git.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from decider.files import write_text
from decider.perf import checkout_imports


def write_imports_folder(folder: Path, roots: Mapping[str, str]) -> None:
    """Write the `sitecustomize` that imports each package of `roots` from its own folder.

    Args:
        folder: put first on `PYTHONPATH` by the caller.
        roots: the folder that holds a top-level package, by the package's name.

    Raises:
        OSError: it cannot be written.
    """
    finder = Path(checkout_imports.__file__).read_text(encoding="utf-8")
    call = f"install({dict(roots)!r}, {str(folder)!r})\n"
    write_text(folder / "sitecustomize.py", f"{finder}\n\n{call}")
