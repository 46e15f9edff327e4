"""asv's own files, written here by asv itself: the right one is found and read."""

import datetime
import json

import pytest
from asv.results import Results
from asv.runner import BenchmarkResult

from decider.grid import Shape
from decider.perf.calibration.asv_results import BENCHMARK, read_asv_results

BATCHES, LENGTHS = [1, 2, 4], [64, 128]
NAN = float("nan")


def write(
    folder, commit="a" * 40, machine="lab", date=1, *, overrides=None, samples=True, name=BENCHMARK
):
    """A result of 1 ms for 64 tokens and so on; `overrides` by (batch, length), 4×128 skipped."""
    seconds = {Shape(b, t): b * t / 64_000 for b in BATCHES for t in LENGTHS}
    seconds |= {Shape(4, 128): NAN, **(overrides or {})}
    values = list(seconds.values())
    known = [value is not None and value == value for value in values]
    result = BenchmarkResult(
        result=values,
        samples=[[v, 2 * v, v / 2] if k else None for v, k in zip(values, known, strict=True)],
        number=[1 if k else None for k in known],
        errcode=0,
        stderr="",
        profile=None,
    )
    results = Results({"machine": machine, "cpu": "c"}, {}, commit, date, "3.11", "env", {})
    params = [[str(b) for b in BATCHES], [str(t) for t in LENGTHS]]
    benchmark = {"name": name, "version": "1", "params": params}
    when = datetime.datetime.fromtimestamp(date, tz=datetime.UTC)
    results.add_result(benchmark, result, started_at=when, record_samples=samples)
    (folder / machine).mkdir(parents=True, exist_ok=True)
    (folder / machine / "machine.json").write_text("{}")
    results.save(str(folder))
    return next((folder / machine).glob(f"{commit[:8]}-*.json"))


def test_samples_become_blocks_in_milliseconds(tmp_path):
    found = read_asv_results(write(tmp_path))
    assert found.cells[0].shape == (1, 64)
    assert found.cells[0].runs == (((1.0,), (2.0,), (0.5,)),)
    assert found.environment["commit"] == "a" * 40
    assert found.environment["machine"] == "lab"


def test_a_skipped_cell_was_not_captured(tmp_path):
    found = read_asv_results(write(tmp_path))
    assert found.grid.token_budget == 256
    assert found.missing == ()


def test_a_failed_cell_is_missing(tmp_path):
    found = read_asv_results(write(tmp_path, overrides={Shape(2, 128): None}))
    assert found.missing == ((2, 128),)


def test_without_recorded_samples_the_medians_are_left(tmp_path):
    found = read_asv_results(write(tmp_path, samples=False))
    assert found.cells[0].runs == (((1.0,),),)


def test_the_file_may_hold_a_bare_nan(tmp_path):
    assert "NaN" in write(tmp_path).read_text()


def test_the_newest_commit_is_the_default_and_a_prefix_names_another(tmp_path):
    write(tmp_path, "a" * 40, date=1)
    write(tmp_path, "b" * 40, date=3)
    write(tmp_path, "c" * 40, date=2)
    assert read_asv_results(tmp_path).environment["commit"] == "b" * 40
    assert read_asv_results(tmp_path, commit="c").environment["commit"] == "c" * 40


def test_a_newer_commit_whose_cells_were_all_skipped_is_passed_over(tmp_path):
    write(tmp_path, "a" * 40, date=1)
    skipped = {Shape(b, t): NAN for b in BATCHES for t in LENGTHS}
    write(tmp_path, "b" * 40, date=2, overrides=skipped)
    assert read_asv_results(tmp_path).environment["commit"] == "a" * 40


def test_an_unknown_commit_is_told_with_those_there_are(tmp_path):
    write(tmp_path, "a" * 40)
    with pytest.raises(ValueError, match="no result of commit 'f'; measured are aaaaaaaa"):
        read_asv_results(tmp_path, commit="f")


def test_one_of_several_machines_must_be_named(tmp_path, monkeypatch):
    monkeypatch.setattr("platform.node", lambda: "elsewhere")
    for machine in ("east", "west"):
        write(tmp_path, machine=machine)
    with pytest.raises(ValueError, match="several machines; --machine names one of east, west"):
        read_asv_results(tmp_path)
    assert read_asv_results(tmp_path, "west").environment["machine"] == "west"
    with pytest.raises(ValueError, match="no result of machine 'north'"):
        read_asv_results(tmp_path, "north")


def test_this_machine_is_taken_before_others(tmp_path, monkeypatch):
    monkeypatch.setattr("platform.node", lambda: "west")
    for machine in ("east", "west"):
        write(tmp_path, machine=machine)
    assert read_asv_results(tmp_path).environment["machine"] == "west"


def test_results_of_other_benchmarks_are_passed_over(tmp_path):
    write(tmp_path, name="planner.Time.time_plan")
    with pytest.raises(ValueError, match=r"no asv result holds forward.*record-samples"):
        read_asv_results(tmp_path)


def test_a_benchmark_that_failed_whole_has_no_cell(tmp_path):
    path = write(tmp_path)
    values = json.loads(path.read_text())
    values["results"][BENCHMARK] = [None, [["1"], ["64"]], "1"]
    path.write_text(json.dumps(values))
    with pytest.raises(ValueError, match="no measured cell"):
        read_asv_results(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"results": {}, "result_columns": []}'])
def test_a_damaged_file_is_told_when_named_and_passed_over_in_a_folder(tmp_path, text):
    write(tmp_path)
    damaged = tmp_path / "lab" / "damaged.json"
    damaged.write_text(text)
    with pytest.raises(ValueError, match=r"damaged\.json: no asv result"):
        read_asv_results(damaged)
    assert read_asv_results(tmp_path).cells
