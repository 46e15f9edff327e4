"""Which result is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from decider.perf.report.results_folder import read_results_folder
from tests.perf.report.results import COMMIT, COMMITTED_MS, OLDER, write_results

DAY_MS = 86_400_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two commits on one machine, and the older one on another."""
    write_results(tmp_path, benchmarks={})
    write_results(tmp_path, commit=OLDER, committed_ms=COMMITTED_MS - DAY_MS, benchmarks={})
    older = {"commit": OLDER, "committed_ms": COMMITTED_MS - DAY_MS}
    write_results(tmp_path, machine="other", benchmarks={}, **older)  # type: ignore[arg-type]
    return tmp_path


def test_the_newest_commit_is_the_default(folder: Path) -> None:
    read = read_results_folder(folder)
    assert read.unreadable == ()
    chosen = read.choose()
    assert (chosen.machine, chosen.commit) == ("reference", COMMIT)


def test_machine_and_commit_narrow_the_choice(folder: Path) -> None:
    read = read_results_folder(folder)
    assert read.choose(machine="other").commit == OLDER
    assert read.choose(machine="reference", commit=OLDER[:7]).commit == OLDER


def test_an_unknown_machine_lists_those_there_are(folder: Path) -> None:
    with pytest.raises(ValueError, match="no result of machine 'mars'; there are other, reference"):
        read_results_folder(folder).choose(machine="mars")


def test_an_unknown_commit_lists_those_measured_there_newest_first(folder: Path) -> None:
    read = read_results_folder(folder)
    with pytest.raises(ValueError, match=f"measured are {COMMIT[:8]}, {OLDER[:8]}"):
        read.choose(commit="fff")
    with pytest.raises(ValueError, match=f"machine 'other'; measured are {OLDER[:8]}$"):
        read.choose(machine="other", commit=COMMIT)


def test_an_ambiguous_commit_is_not_guessed(tmp_path: Path) -> None:
    for end in "12":
        write_results(tmp_path, commit=COMMIT[:-1] + end, benchmarks={})
    with pytest.raises(ValueError, match="ambiguous"):
        read_results_folder(tmp_path).choose(commit=COMMIT[:8])


@pytest.mark.parametrize("made", [False, True])
def test_no_result_says_how_to_make_one(tmp_path: Path, made: bool) -> None:
    path = tmp_path / "results"
    if made:
        (path / "machine").mkdir(parents=True)
        (path / "machine" / "machine.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="`make bench` makes some"):
        read_results_folder(path)


def test_a_damaged_file_is_told_and_left_out(folder: Path) -> None:
    damaged = next(folder.glob("*")).with_name("machine1")
    damaged.mkdir()
    (damaged / "x.json").write_text("{", encoding="utf-8")
    read = read_results_folder(folder)
    assert len(read.results) == 3
    assert len(read.unreadable) == 1
    assert "x.json" in read.unreadable[0]


def test_nothing_but_damaged_files_is_an_error_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "x.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match="no result can be read") as caught:
        read_results_folder(tmp_path)
    assert "x.json: no asv result" in str(caught.value)


@pytest.mark.parametrize("text", [None, "{", "[]"])
def test_without_declarations_results_are_read_and_it_is_told(
    folder: Path, text: str | None
) -> None:
    declarations = folder / "benchmarks.json"
    declarations.unlink()
    if text is not None:
        declarations.write_text(text, encoding="utf-8")
    read = read_results_folder(folder)
    assert len(read.results) == 3
    assert "units are not known" in read.unreadable[0]


def test_a_folder_read_in_part_gives_one_result_whole(tmp_path: Path) -> None:
    write_results(tmp_path)
    read = read_results_folder(tmp_path, only=["planner.Planning.time_plan"])
    chosen = read.choose()
    assert list(chosen.benchmarks) == ["planner.Planning.time_plan"]
    assert read.whole(chosen) == read_results_folder(tmp_path).choose()


def test_a_run_of_asv_is_preferred_to_what_a_comparison_wrote(tmp_path: Path) -> None:
    path = write_results(tmp_path, benchmarks={})
    paired = path.with_name(f"{COMMIT[:8]}-paired-py3.11.json")
    ordinary = path.rename(path.with_name(f"{COMMIT[:8]}-checkout-py3.11.json"))
    for copy in (paired, ordinary.with_name(f"{COMMIT[:8]}-another.json")):
        copy.write_text(ordinary.read_text(encoding="utf-8"), encoding="utf-8")
    read = read_results_folder(tmp_path)
    assert {result.environment: result.is_paired for result in read.results} == {
        "another": False,
        "checkout-py3.11": False,
        "paired-py3.11": True,
    }
    assert not read.choose().is_paired
