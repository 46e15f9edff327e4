"""Series out of results folders."""

from __future__ import annotations

import math
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from decider.perf.history.series import is_rate, read_series
from tests.perf.history.folders import EXACT, FIRST_MS, TIMES, commit_hash, noisy, write_series


def test_a_cell_over_commits_is_a_series_in_order_of_the_commits(tmp_path: Path) -> None:
    write_series(tmp_path, [0.3, 0.1, None, 0.2], extra={EXACT: 0.9})
    folder = read_series(tmp_path)
    times = next(one for one in folder.series if one.benchmark == TIMES)
    assert times.cell == f"{TIMES} (batch 8)"
    assert times.values == pytest.approx([0.3, 0.1, math.nan, 0.2], nan_ok=True)
    assert [commit.hash for commit in times.commits] == list(map(commit_hash, range(4)))
    assert times.commits[0].committed == datetime.fromtimestamp(FIRST_MS / 1000, UTC)
    assert (times.machine, times.unit, times.exact) == ("reference", "seconds", False)
    exact = next(one for one in folder.series if one.benchmark == EXACT)
    assert (exact.cell, exact.exact) == (EXACT, True)
    assert folder.breaks == ()
    assert [commit.hash for commit in folder.commits] == list(map(commit_hash, range(4)))


@pytest.mark.parametrize(
    ("second", "what"),
    [
        ({"torch": "2.12.0"}, "torch 2.11.0 -> 2.12.0"),
        ({"gpu": "Another"}, "gpu unknown -> Another"),
        ({"version": "2"}, f"version of {TIMES} 1 -> 2"),
        ({"environment": "other"}, "asv environment checkout -> other"),
        ({"environment": "other", "cpu": "B"}, "cpu A CPU -> B"),
    ],
)
def test_what_was_measured_otherwise_is_another_series_and_told(
    tmp_path: Path, second: dict[str, str], what: str
) -> None:
    write_series(tmp_path, [0.1] * 3)
    write_series(tmp_path, [0.2] * 2, first=3, **second)
    folder = read_series(tmp_path)
    assert [one.values for one in folder.series] == [(0.1,) * 3, (0.2,) * 2]
    (broken,) = folder.breaks
    assert (broken.machine, broken.what, broken.cells) == ("reference", what, 1)
    assert broken.commit.hash == commit_hash(3)


def test_environments_side_by_side_are_two_series_and_no_break(tmp_path: Path) -> None:
    write_series(tmp_path, [0.1] * 3)
    write_series(tmp_path, [0.2] * 3, environment="paired-quick")
    folder = read_series(tmp_path)
    assert sorted(one.values for one in folder.series) == [(0.1,) * 3, (0.2,) * 3]
    assert folder.breaks == ()


def test_machines_are_kept_apart_and_may_be_chosen(tmp_path: Path) -> None:
    write_series(tmp_path, [0.1] * 2, machine="a")
    write_series(tmp_path, [0.2] * 3, machine="b")
    assert {one.machine for one in read_series(tmp_path).series} == {"a", "b"}
    only = read_series(tmp_path, machine="b")
    assert [one.values for one in only.series] == [(0.2,) * 3]
    with pytest.raises(ValueError, match="no result of machine 'c'; there are a, b"):
        read_series(tmp_path, machine="c")


def test_cells_may_be_chosen_by_an_expression_on_name_and_parameters(tmp_path: Path) -> None:
    write_series(tmp_path, [0.1] * 2, extra={EXACT: 0.9})
    assert [one.benchmark for one in read_series(tmp_path, benchmark="batch 8").series] == [TIMES]
    assert read_series(tmp_path, benchmark="nothing").series == ()
    with pytest.raises(ValueError, match=r"'\(' is no regular expression"):
        read_series(tmp_path, benchmark="(")


def test_a_damaged_file_is_told_and_left_out(tmp_path: Path) -> None:
    write_series(tmp_path, noisy(3))
    damaged = next(tmp_path.glob("*/*-checkout.json"))
    damaged.write_text("{")
    folder = read_series(tmp_path)
    assert len(folder.series[0].values) == 2
    assert any(damaged.name in sentence for sentence in folder.unreadable)


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no asv result"):
        read_series(tmp_path)


def test_commits_of_one_second_are_in_the_repositorys_order(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    git("init", "-q")
    hashes = []
    for number in range(6):
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        git(*who, "commit", "-q", "--allow-empty", "-m", str(number))
        hashes.append(git("rev-parse", "HEAD"))
    write_series(tmp_path / "results", noisy(6), every_ms=0)
    files = {commit_hash(number): hashes[number] for number in range(6)}
    for path in (tmp_path / "results").glob("*/*-checkout.json"):
        text = path.read_text()
        for made_up, real in files.items():
            text = text.replace(made_up, real)
        path.write_text(text)
    (series,) = read_series(tmp_path / "results").series
    assert [commit.hash for commit in series.commits] == hashes
    assert series.values == pytest.approx(noisy(6))


@pytest.mark.parametrize("unit", ["rows/s", "1/s", "tokens per second", "rows / sec", "B/second"])
def test_rates(unit: str) -> None:
    assert is_rate(unit)


@pytest.mark.parametrize("unit", ["seconds", "s", "bytes", "", "ratio", "forwards", "s/row"])
def test_no_rates(unit: str) -> None:
    assert not is_rate(unit)
