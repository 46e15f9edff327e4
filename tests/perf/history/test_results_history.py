"""Results arranged by benchmark and commit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decider.perf.history.results_history import BenchmarkHistory, ResultsHistory
from decider.perf.history.results_reader import read_history
from decider.perf.report.results_folder import read_results_folder
from tests.perf.report.results import benchmark, write_results
from tests.perf.site.histories import HOUR_MS, STARTED_MS, commit_hash, write_commit, write_history


def _only(folder: Path) -> BenchmarkHistory:
    (history,) = read_history(folder)[0].benchmarks()
    return history


def _one(value: float | None, **fields: str) -> dict[str, tuple[dict[str, object], dict]]:
    return {"a.track_it": benchmark({}, None if value is None else [value], "seconds", **fields)}


def test_commits_are_in_order_of_time_whatever_the_files_are_called(tmp_path: Path) -> None:
    for number in (3, 0, 2, 1):
        write_commit(tmp_path, number, _one(float(number)))
    history = _only(tmp_path)
    assert [commit.hash for commit in history.commits] == [commit_hash(n) for n in range(4)]
    (cell,) = history.cells
    (stretch,) = cell.stretches
    assert (stretch.first, list(stretch.values)) == (0, [0.0, 1.0, 2.0, 3.0])
    assert (cell.newest.value, cell.newest_commit) == (3.0, 3)


def test_another_version_or_environment_is_another_stretch(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, _one(1.0))
    write_commit(tmp_path, 1, _one(2.0, version="2"))
    write_commit(tmp_path, 2, _one(3.0, version="2"), torch="2.12")
    (cell,) = _only(tmp_path).cells
    found = [(one.environment, one.version, one.first, list(one.values)) for one in cell.stretches]
    assert found == [(0, "1", 0, [1.0]), (0, "2", 1, [2.0]), (1, "2", 2, [3.0])]


def test_machines_are_never_mixed(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, _one(1.0), machine="here")
    write_commit(tmp_path, 1, _one(2.0), machine="there")
    history, _ = read_history(tmp_path)
    assert [(one.machine, len(one.commits)) for one in history.benchmarks()] == [
        ("here", 1),
        ("there", 1),
    ]


def test_a_paired_environment_is_one_of_its_own(tmp_path: Path) -> None:
    for name in ("checkout", "paired-quick"):
        path = write_commit(tmp_path, 0, _one(1.0))
        path.rename(path.with_name(f"{commit_hash(0)[:8]}-{name}.json"))
    environments = _only(tmp_path).environments
    assert [dict(one)["asv environment"] for one in environments] == ["checkout", "paired-quick"]


def test_failed_and_skipped_cells_have_no_value_and_are_told(tmp_path: Path) -> None:
    write_history(tmp_path, count=2)
    history = next(iter(read_history(tmp_path)[0].benchmarks()))
    said = {cell.label: cell.newest.status for cell in history.cells}
    assert list(said.values()) == ["measured", "measured", "skipped", "failed"]
    assert all(math.isnan(value) for value in history.cells[3].stretches[0].values)
    run = read_history(tmp_path)[0].runs[0]
    assert run.statuses["forward.Forward.track_seconds"] == {
        "measured": 2,
        "skipped": 1,
        "failed": 1,
    }


def test_a_benchmark_that_failed_as_a_whole_keeps_its_past(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, _one(1.0))
    write_commit(tmp_path, 1, _one(None))
    (cell,) = _only(tmp_path).cells
    assert cell.newest.status == "failed"
    assert cell.stretches[0].values[0] == 1.0


def test_a_commit_has_one_time_whatever_the_files_say(tmp_path: Path) -> None:
    for number, machine in enumerate(("here", "there")):
        write_results(
            tmp_path,
            machine=machine,
            commit=commit_hash(0),
            committed_ms=STARTED_MS + number * HOUR_MS,
            benchmarks={},
        )
    history, _ = read_history(tmp_path)
    assert len(history.commits) == 1
    assert len({run.commit for run in history.runs}) == 1


def test_samples_are_not_kept(tmp_path: Path) -> None:
    write_history(tmp_path, count=2)
    history, _ = read_history(tmp_path)
    kept = [cell.newest.samples for one in history.benchmarks() for cell in one.cells]
    assert set(kept) == {()}


Column = tuple[int, str, str, list[float]]


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 5),
            st.sampled_from(["2.1", "2.2"]),
            st.sampled_from(["1", "2"]),
            st.lists(st.sampled_from([1.0, 2.0, math.nan]), min_size=1, max_size=3),
        ),
        min_size=1,
        max_size=8,
        unique_by=lambda column: column[:2],
    )
)
def test_every_value_is_where_a_slow_search_finds_it(
    tmp_path_factory, columns: Sequence[Column]
) -> None:
    folder = tmp_path_factory.mktemp("results")
    for number, torch, version, values in columns:
        content = {"a.track_it": benchmark({"n": range(len(values))}, values, "s", version=version)}
        path = write_commit(folder, number, content, torch=torch)
        path.rename(path.with_name(f"{number}{torch}.json"))
    history = ResultsHistory()
    for result in read_results_folder(folder).results:
        history.add(result)
    (arranged,) = history.benchmarks()
    found = {
        (arranged.commits[stretch.first + place].hash, torch, stretch.version, cell.label, value)
        for cell in arranged.cells
        for stretch in cell.stretches
        for place, value in enumerate(stretch.values)
        for torch in [dict(arranged.environments[stretch.environment])["torch"]]
        if not math.isnan(value)
    }
    assert found == {
        (commit_hash(number), torch, version, f"n {place}", value)
        for number, torch, version, values in columns
        for place, value in enumerate(values)
        if not math.isnan(value)
    }
    for cell in arranged.cells:
        for _, places in groupby(cell.stretches, lambda one: (one.environment, one.version)):
            assert len(list(places)) == 1, "what may be compared is in one stretch"
