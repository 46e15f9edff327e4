"""The folder that is replaced as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from decider.perf.site.output_folder import MARK, replaced_folder


def _write(out: Path, text: str) -> None:
    with replaced_folder(out) as new:
        (new / "index.html").write_text(text, encoding="utf-8")


def _write_half(out: Path) -> None:
    with replaced_folder(out) as new:
        (new / "index.html").write_text("half", encoding="utf-8")
        raise KeyboardInterrupt


def test_it_appears_whole_and_replaces_an_earlier_one(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "site"
    _write(out, "one")
    (out / "old.html").write_text("x", encoding="utf-8")
    _write(out, "two")
    assert sorted(path.name for path in out.iterdir()) == [MARK, "index.html"]
    assert (out / "index.html").read_text(encoding="utf-8") == "two"
    assert [path.name for path in out.parent.iterdir()] == ["site"], "nothing is left beside it"
    assert out.stat().st_mode & 0o777 == 0o755


def test_a_failure_leaves_the_old_one(tmp_path: Path) -> None:
    out = tmp_path / "site"
    _write(out, "one")
    with pytest.raises(KeyboardInterrupt):
        _write_half(out)
    assert (out / "index.html").read_text(encoding="utf-8") == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_rename_that_fails_brings_the_old_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "site"
    _write(out, "one")
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if target == out and self.name != "old":
            raise OSError("disk is gone")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="disk is gone"):
        _write(out, "two")
    assert (out / "index.html").read_text(encoding="utf-8") == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    _write(tmp_path / "site", "one")
    assert (tmp_path / "site" / "index.html").is_file()


def test_a_folder_with_something_else_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(ValueError, match="holds something that is no site"):
        _write(tmp_path, "one")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_or_a_link_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    for name in ("file", "link"):
        with pytest.raises(ValueError, match="not a folder"):
            _write(tmp_path / name, "one")
