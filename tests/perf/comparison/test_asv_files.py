"""Comparisons as asv result files."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from asv.results import Results, iter_results

from decider.perf.comparison.asv_files import declare_paired_benchmarks, write_asv_results
from decider.perf.report.results_folder import read_results_folder
from tests.perf.report.comparisons import cell, comparison
from tests.perf.report.results import COMMIT, OLDER, write_results

FORWARD = "paired.Forward.track_seconds"
PLAN = "paired.Plan.track_seconds"


def _document(**fields: Any) -> dict[str, Any]:
    cells = [
        cell("forward/8x256", "unchanged", 0.001),
        cell("forward/16x64", "regressed", 0.1),
        cell("plan/decision/32/ladder", "improved", -0.1),
    ]
    return comparison(cells, **fields)


def _by_commit(folder: Path) -> dict[str, Any]:
    return {results.commit_hash: results for results in iter_results(str(folder))}


def test_each_side_is_a_file_that_asv_reads(tmp_path: Path) -> None:
    document = _document()
    written = write_asv_results(document, tmp_path)
    assert [path.name[:15] for path in written] == [f"{c[:8]}-paired" for c in (OLDER, COMMIT)]
    assert all(path.parent == tmp_path / "reference" for path in written)
    found = _by_commit(tmp_path)
    assert set(found) == {OLDER, COMMIT}
    head = found[COMMIT]
    assert head.params["machine"] == "reference"
    assert head.params["run"] == "paired quick"
    assert head.params["torch"] == "2.11"
    date = datetime.fromisoformat(document["head"]["date"])
    assert head.date == date.timestamp() * 1000
    assert head.get_result_params(FORWARD) == [["8", "16"], ["64", "256"]]
    assert head.get_result_params(PLAN) == [["'decision'"], ["'32'"], ["'ladder'"]]


@pytest.mark.parametrize(("side", "commit"), [("base", OLDER), ("head", COMMIT)])
def test_a_sample_is_the_median_of_a_process(tmp_path: Path, side: str, commit: str) -> None:
    document = _document()
    write_asv_results(document, tmp_path)
    expected = [
        median(median(block) for block in pair["samples"]["forward/8x256"][side])
        for pair in document["pairs"]
    ]
    results = _by_commit(tmp_path)[commit]
    samples = results.get_result_samples(FORWARD, [["8"], ["256"]])[0]
    assert samples == pytest.approx(expected)
    value = results.get_result_value(FORWARD, [["8"], ["256"]])[0]
    assert value == pytest.approx(median(expected))


def test_shapes_that_are_no_cells_are_skipped_and_failed_cells_fail(tmp_path: Path) -> None:
    document = _document()
    document["cells"].append(cell("forward/8x64", "failed"))
    write_asv_results(document, tmp_path)
    result = read_results_folder(tmp_path).choose(commit=COMMIT)
    statuses = {one.label: one.status for one in result.cells_of(FORWARD)}
    assert statuses == {
        "batch 8, length 64": "failed",
        "batch 8, length 256": "measured",
        "batch 16, length 64": "measured",
        "batch 16, length 256": "skipped",
    }
    assert result.is_paired


def test_asv_knows_the_benchmarks_beside_its_own(tmp_path: Path) -> None:
    own = write_results(tmp_path)
    before = own.read_bytes()
    declared = json.loads((tmp_path / "benchmarks.json").read_text())
    write_asv_results(_document(), tmp_path)
    now = json.loads((tmp_path / "benchmarks.json").read_text())
    assert {name: now[name] for name in declared} == declared
    assert now[FORWARD]["param_names"] == ["batch", "length"]
    assert now[FORWARD]["unit"] == "seconds"
    assert now["paired.Control.track_seconds"]["params"] == []
    assert own.read_bytes() == before


def test_benchmarks_that_an_asv_run_dropped_are_declared_again(tmp_path: Path) -> None:
    write_asv_results(_document(), tmp_path)
    other = comparison([cell("forward/1x1024", "unchanged", 0.0)], profile="full")
    write_asv_results(other, tmp_path)
    path = tmp_path / "benchmarks.json"
    full = json.loads(path.read_text())
    assert full[FORWARD]["params"] == [["1", "8", "16"], ["64", "256", "1024"]]
    path.write_text('{"version": 2}')
    declare_paired_benchmarks(tmp_path)
    assert json.loads(path.read_text()) == full


def test_of_two_comparisons_of_a_commit_the_newest_counts(tmp_path: Path) -> None:
    older, newer = _document(made="2026-11-01T00:00:00+00:00"), _document()
    newer["pairs"] = copy.deepcopy(newer["pairs"][:3])
    assert len(write_asv_results(older, tmp_path)) == 2
    assert len(write_asv_results(newer, tmp_path)) == 2
    assert write_asv_results(older, tmp_path) == []
    results = _by_commit(tmp_path)[COMMIT]
    assert len(results.get_result_samples(FORWARD, [["8"], ["256"]])[0]) == 3
    made = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert results.started_at[FORWARD] == made.timestamp() * 1000


def test_writing_twice_changes_nothing(tmp_path: Path) -> None:
    written = write_asv_results(_document(), tmp_path)
    texts = [path.read_text() for path in (*written, tmp_path / "benchmarks.json")]
    assert write_asv_results(_document(), tmp_path) == written
    assert [path.read_text() for path in (*written, tmp_path / "benchmarks.json")] == texts


def test_a_commit_with_itself_is_one_file_of_its_base(tmp_path: Path) -> None:
    document = _document()
    document["base"] = document["head"]
    (path,) = write_asv_results(document, tmp_path)
    results = Results.load(str(path))
    base = document["pairs"][0]["samples"]["forward/8x256"]["base"]
    assert results.get_result_samples(FORWARD, [["8"], ["256"]])[0][0] == pytest.approx(
        median(median(block) for block in base)
    )


def test_a_machine_that_asv_described_keeps_its_description(tmp_path: Path) -> None:
    path = tmp_path / "reference" / "machine.json"
    path.parent.mkdir()
    path.write_text('{"machine": "reference", "os": "known", "version": 1}')
    write_asv_results(_document(), tmp_path)
    assert "known" in path.read_text()


@pytest.mark.parametrize("name", ["../elsewhere", "a/b", "..", ""])
def test_a_machine_cannot_lead_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a folder"):
        write_asv_results(_document(machine=name), tmp_path / "results")
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_damaged_list_of_benchmarks_is_named_and_nothing_is_written(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "benchmarks.json").write_text(text)
    with pytest.raises(ValueError, match=r"benchmarks\.json: .*`asv run` makes it anew"):
        write_asv_results(_document(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["benchmarks.json"]


def test_a_comparison_without_pairs_gives_failed_cells(tmp_path: Path) -> None:
    document = comparison([cell("forward/8x256", "failed")], pairs=[], control=None)
    write_asv_results(document, tmp_path)
    result = read_results_folder(tmp_path).choose(commit=COMMIT)
    assert [one.status for one in result.cells_of(FORWARD)] == ["failed"]
