"""Changes of cells, and the commits that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from decider.perf.history.findings import Finding
from decider.perf.history.results_reader import read_history
from decider.perf.history.series import Series
from decider.perf.site.changes import ByCell, CellChange, changes_of, search_series
from tests.perf.report.results import benchmark
from tests.perf.site.histories import commit_hash, find_jumps, write_commit, write_history


def test_a_change_names_the_commits_of_its_range(tmp_path: Path) -> None:
    write_history(tmp_path, count=12, step_at=8)
    found, _ = changes_of(list(read_history(tmp_path)[0].benchmarks()), find_jumps)
    ((label, (change,)),) = found.items()
    assert label == "batch 1, length 128"
    assert (change.after, change.number) == (7, 8)
    assert (change.since.hash, change.commit.hash) == (commit_hash(7), commit_hash(8))
    assert (change.size, change.word) == ("+20.0%", "▲ worse")


def test_places_count_from_the_first_commit_of_the_benchmark_not_of_the_stretch(
    tmp_path: Path,
) -> None:
    for number, value in enumerate([1.0, 1.0, 5.0, 5.0, 9.0]):
        torch = "2.1" if number < 2 else "2.2"
        write_commit(tmp_path, number, {"a.b": benchmark({}, [value], "s")}, torch=torch)
    (found,) = changes_of(list(read_history(tmp_path)[0].benchmarks()), find_jumps)
    (changes,) = found.values()
    assert [(change.after, change.number) for change in changes] == [(3, 4)], (
        "the jump from one environment to another is none"
    )


def test_a_change_says_whether_it_still_holds_and_whether_it_may_be_chance(tmp_path: Path) -> None:
    write_history(tmp_path, count=12, step_at=8)
    histories = list(read_history(tmp_path)[0].benchmarks())

    def doubtful(series: Sequence[Series], _: object) -> list[Finding]:
        return [replace(one, in_force=False, confirmed=False) for one in find_jumps(series)]

    assert _only(changes_of(histories, find_jumps)[0]).standing == "in force"
    assert _only(changes_of(histories, doubtful)[0]).standing == "undone since, may be chance"


def test_each_benchmark_gets_its_own_changes(tmp_path: Path) -> None:
    write_history(tmp_path, count=12, step_at=8)
    write_history(tmp_path, count=12, step_at=3, machine="another")
    histories = list(read_history(tmp_path)[0].benchmarks())
    found = changes_of(histories, find_jumps)
    assert [(one.machine, one.name) for one in histories] == [
        (change.machine, change.benchmark) for change in map(_only, found)
    ]
    assert [_only(one).number for one in found] == [3, 5, 8, 5]


def test_a_change_from_zero_has_no_relative_size(tmp_path: Path) -> None:
    for number, value in enumerate([0.0, 2.0]):
        write_commit(tmp_path, number, {"plans.track_x": benchmark({}, [value], "rows")})
    (found,) = changes_of(list(read_history(tmp_path)[0].benchmarks()), search_series)
    change = _only(found)
    assert (change.size, change.word, change.standing) == ("", "▲ worse", "in force")


def test_a_step_of_a_noisy_figure_is_found_by_the_search_of_the_history(tmp_path: Path) -> None:
    for number in range(40):
        value = 1.0 + 0.01 * ((7 * number) % 5 - 2) + (0.5 if number >= 20 else 0.0)
        write_commit(tmp_path, number, {"forward.x": benchmark({}, [value], "seconds")})
    (found,) = changes_of(list(read_history(tmp_path)[0].benchmarks()), search_series)
    change = _only(found)
    assert (change.kind, change.worse) == ("step", True)
    assert change.after < 20 <= change.number + 1
    assert change.number <= 22


def test_nothing_is_searched_where_there_is_nothing() -> None:
    assert changes_of([], search_series) == []


def _only(changes: ByCell) -> CellChange:
    ((change,),) = changes.values()
    return change
