"""Rewriting the shipped constant, and the table that says where it comes from.

Both files change or neither does. Knows git only as far as asking whether the tree is clean.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from decider.files import write_text

SOURCE = Path("decider/batching.py")
PAGE = Path("docs/SERVING.md")
CONSTANT = re.compile(r"^DEFAULT_MERGE_OVERHEAD_TOKENS = \d+$", re.MULTILINE)
TABLE = re.compile(r"(<!-- calibration:start -->\n).*?(<!-- calibration:end -->)", re.DOTALL)


def checked_repository(start: Path) -> Path:
    """The root of the repository around `start`, if its constant and table can be rewritten.

    Raises:
        ValueError: there is no git repository, tracked files differ from the last commit, or a file
            lacks the place to write at.
    """
    root = Path(_git(start, "rev-parse", "--show-toplevel").strip())
    changed = _git(root, "status", "--porcelain", "--untracked-files=no").splitlines()
    if changed:
        names = ", ".join(line[3:] for line in changed[:3])
        raise ValueError(f"uncommitted changes ({names}): commit or discard them, then --write")
    _only_place(root / SOURCE, CONSTANT, "a line DEFAULT_MERGE_OVERHEAD_TOKENS = <number>")
    _only_place(root / PAGE, TABLE, "the markers <!-- calibration:start --> and :end -->")
    return root


def write_constant(root: Path, overhead: int, facts: Mapping[str, str]) -> list[Path]:
    """Write the constant and the table of its facts; return the files written.

    Args:
        root: what `checked_repository` returned.
        overhead: the constant, in token-units.
        facts: what the table says, by what it is.

    Raises:
        ValueError: a file lacks the place to write at; nothing is written.
        OSError: a file cannot be written; the other is as it was.
    """
    source, page = root / SOURCE, root / PAGE
    before = _only_place(source, CONSTANT, "the constant")
    text = _only_place(page, TABLE, "the markers")
    lines = [f"| {_cell(name)} | {_cell(value)} |" for name, value in facts.items()]
    table = "\n".join(
        ["| `DEFAULT_MERGE_OVERHEAD_TOKENS` | " + str(overhead) + " |", "| --- | --- |", *lines]
    )
    write_text(source, CONSTANT.sub(f"DEFAULT_MERGE_OVERHEAD_TOKENS = {overhead}", before))
    try:
        write_text(page, TABLE.sub(lambda m: f"{m[1]}{table}\n{m[2]}", text))
    except BaseException:
        write_text(source, before)
        raise
    return [source, page]


def _only_place(path: Path, place: re.Pattern[str], meaning: str) -> str:
    """The text of a file that holds `place` once."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    found = len(place.findall(text))
    if found != 1:
        raise ValueError(f"{path}: holds {meaning} {found} times, not once")
    return text


def _cell(text: str) -> str:
    """Text for one cell of a Markdown table: nothing in it can end the cell or the table."""
    plain = " ".join(text.split())
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise ValueError(f"git cannot be run: {error.strerror}") from None
    if done.returncode:
        raise ValueError(f"git {arguments[0]} in {folder}: {done.stderr.strip()}")
    return done.stdout
