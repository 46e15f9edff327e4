"""A folder that is replaced as a whole: what fails on the way leaves the old one as it was."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MARK = ".decider-site"
"""A file by which a folder is known as a site, so that no other folder is ever replaced."""


@contextmanager
def replaced_folder(out: Path) -> Iterator[Path]:
    """An empty folder to write to, which takes the place of `out` when the block ends well.

    Raises:
        ValueError: `out` is a file, or holds something that is no site: it would be lost.
        OSError: it cannot be written; `out` is what it was.
    """
    _check(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}."))
    try:
        yield new
        (new / MARK).write_text("written by decider site; replaced as a whole\n", encoding="utf-8")
        new.chmod(0o755)  # mkdtemp makes it private; a site is there to be read
        _swap(new, out)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _check(out: Path) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise ValueError(f"{out}: not a folder; --out names the folder to write")
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).is_file():
        raise ValueError(
            f"{out}: holds something that is no site (no file {MARK}); "
            "--out replaces the whole folder, so name another one, or empty it"
        )


def _swap(new: Path, out: Path) -> None:
    """Two renames, since no folder can be renamed over one that holds something."""
    if not out.exists():
        new.rename(out)
        return
    old = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}.")) / "old"
    out.rename(old)
    try:
        new.rename(out)
    except OSError:
        old.rename(out)
        raise
    finally:
        if out.exists():  # or else the old one is all that is left
            shutil.rmtree(old.parent, ignore_errors=True)
