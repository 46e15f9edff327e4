"""Rewriting the constant: both files or neither, and never over somebody's work."""

import os
import subprocess

import pytest

from decider.perf.calibration import shipped_constant
from decider.perf.calibration.shipped_constant import checked_repository, write_constant

SOURCE = '"""A module."""\n\nDEFAULT_MERGE_OVERHEAD_TOKENS = 512\nOTHER = 512\n'
PAGE = "# Serving\n<!-- calibration:start -->\nold\n<!-- calibration:end -->\nthe rest\n"


def git(folder, *arguments):
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org"}
    identity |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
    subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True,
        capture_output=True,
        env={**os.environ, **identity},
    )


@pytest.fixture
def repository(tmp_path):
    for name, text in (("decider/batching.py", SOURCE), ("docs/SERVING.md", PAGE)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    return tmp_path


def test_the_constant_and_its_table_change_and_nothing_else(repository):
    write_constant(repository, 667, {"machine": "lab", "commit": "abc"})
    source = (repository / "decider/batching.py").read_text()
    assert source == SOURCE.replace("TOKENS = 512", "TOKENS = 667")
    page = (repository / "docs/SERVING.md").read_text()
    assert page == (
        "# Serving\n<!-- calibration:start -->\n| `DEFAULT_MERGE_OVERHEAD_TOKENS` | 667 |\n"
        "| --- | --- |\n| machine | lab |\n| commit | abc |\n<!-- calibration:end -->\nthe rest\n"
    )


def test_writing_again_replaces_the_table(repository):
    write_constant(repository, 667, {"machine": "lab"})
    write_constant(repository, 700, {"machine": "other"})
    page = (repository / "docs/SERVING.md").read_text()
    assert "lab" not in page
    assert page.count("calibration:start") == 1


def test_names_from_outside_stay_in_their_cell(repository):
    hostile = "a | b\n<!-- calibration:end --> \\1 &"
    write_constant(repository, 667, {"machine": hostile})
    page = (repository / "docs/SERVING.md").read_text()
    assert "| machine | a \\| b &lt;!-- calibration:end --> \\1 &amp; |" in page
    write_constant(repository, 700, {})
    assert "machine" not in (repository / "docs/SERVING.md").read_text()


def test_the_root_is_found_from_below(repository):
    assert checked_repository(repository / "docs").samefile(repository)


def test_a_dirty_tree_is_refused_by_name(repository):
    (repository / "docs/SERVING.md").write_text(PAGE + "more\n")
    with pytest.raises(ValueError, match=r"uncommitted changes \(docs/SERVING.md\): commit"):
        checked_repository(repository)


def test_untracked_results_do_not_make_a_tree_dirty(repository):
    (repository / "grid.json").write_text("{}")
    checked_repository(repository)


def test_outside_a_repository_nothing_is_written(tmp_path):
    with pytest.raises(ValueError, match="git rev-parse"):
        checked_repository(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("decider/batching.py", "nothing here\n", "batching.py: holds a line DEFAULT.* 0 times"),
        ("decider/batching.py", SOURCE + SOURCE, "2 times, not once"),
        ("docs/SERVING.md", "# Serving\n", "SERVING.md: holds the markers .* 0 times"),
    ],
)
def test_a_file_without_the_one_place_is_refused(repository, name, text, told):
    (repository / name).write_text(text)
    git(repository, "commit", "-am", "second")
    with pytest.raises(ValueError, match=told):
        checked_repository(repository)


def test_a_missing_page_is_refused(repository):
    git(repository, "rm", "docs/SERVING.md")
    git(repository, "commit", "-m", "second")
    with pytest.raises(ValueError, match=r"SERVING\.md: No such file"):
        checked_repository(repository)


def test_where_the_page_cannot_be_written_the_constant_stays(repository, monkeypatch):
    real = shipped_constant.write_text

    def failing(path, text):
        if path.name == "SERVING.md":
            raise OSError("the disk is full")
        real(path, text)

    monkeypatch.setattr(shipped_constant, "write_text", failing)
    with pytest.raises(OSError, match="full"):
        write_constant(repository, 667, {})
    assert (repository / "decider/batching.py").read_text() == SOURCE
    assert (repository / "docs/SERVING.md").read_text() == PAGE
