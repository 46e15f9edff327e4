"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_text(path: Path | str, text: str) -> None:
    """Write `text` to `path` through a temporary file beside it, so that nobody sees half of it.

    Raises:
        OSError: the folder cannot be made or written; `path` is then what it was before.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)  # mkstemp makes it private; results are there to be read
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
