"""Reading asv's results folder file by file."""

from __future__ import annotations

from pathlib import Path

import pytest

from decider.perf.history.results_reader import read_history
from tests.perf.site.histories import write_history


def test_no_folder_and_no_result_say_how_to_make_one(tmp_path: Path) -> None:
    for folder in (tmp_path / "none", tmp_path):
        with pytest.raises(ValueError, match=r"no .*; `make bench` makes some"):
            read_history(folder)


def test_a_damaged_file_is_named_and_left_out(tmp_path: Path) -> None:
    write_history(tmp_path, count=2)
    damaged = next(tmp_path.glob("*/[0-9]*.json")).with_name("damaged.json")
    damaged.write_text("{", encoding="utf-8")
    history, problems = read_history(tmp_path)
    assert len(history.runs) == 2
    assert [problem.partition(":")[0] for problem in problems] == [str(damaged)]


def test_only_damaged_files_are_no_history(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "damaged.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match=r"(?s)no result can be read:\n.*damaged\.json"):
        read_history(tmp_path)


@pytest.mark.parametrize("content", ["{", "[]", None])
def test_without_asvs_declarations_the_values_are_there(
    tmp_path: Path, content: str | None
) -> None:
    write_history(tmp_path, count=2)
    declarations = tmp_path / "benchmarks.json"
    declarations.unlink() if content is None else declarations.write_text(content, encoding="utf-8")
    history, problems = read_history(tmp_path)
    assert len(history.runs) == 2
    assert len(problems) == 1
    assert "units are not known" in problems[0]


def test_it_says_how_far_it_is(tmp_path: Path) -> None:
    write_history(tmp_path, count=3)
    said: list[tuple[str, int, int]] = []
    read_history(tmp_path, lambda *how_far: said.append(how_far))
    assert said == [("results", done, 3) for done in range(3)]
