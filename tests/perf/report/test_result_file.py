"""Reading an asv result file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.perf.report.result_file import Result, _parsed, read_result
from tests.perf.report.results import COMMIT, benchmark, sampled, write_results


def _read(folder: Path, **benchmarks: Any) -> Result:
    path = write_results(folder, benchmarks=benchmarks)
    return read_result(path, json.loads((folder / "benchmarks.json").read_text(encoding="utf-8")))


def test_a_cell_has_its_parameters_value_interval_and_samples(tmp_path: Path) -> None:
    axes = {"mix": ["short"], "rows": [8, 32]}
    result = _read(tmp_path, b=benchmark(axes, [sampled(2.0), 3.0], "seconds"))
    first, second = result.cells
    assert first.parameters == (("mix", "short"), ("rows", "8"))
    assert (first.value, first.unit, first.interval) == (2.0, "seconds", (1.94, 2.06))
    assert len(first.samples) == 9
    assert (second.value, second.interval, second.samples) == (3.0, None, ())
    assert result.commit == COMMIT


def test_none_is_failed_and_nan_is_skipped(tmp_path: Path) -> None:
    result = _read(tmp_path, b=benchmark({"rows": [1, 2, 3]}, [None, math.nan, 1.0], ""))
    assert [cell.status for cell in result.cells] == ["failed", "skipped", "measured"]


@pytest.mark.parametrize("cpu", ["A CPU", "a NaN, an Infinity", "NaN", "-Infinity"])
def test_bare_nan_and_infinity_are_numbers_and_in_texts_texts(tmp_path: Path, cpu: str) -> None:
    entry = {"result": 2.0, "stats_ci_99_a": -math.inf, "stats_ci_99_b": math.inf}
    cells = [math.nan, entry | {"samples": [2, math.inf]}, entry | {"samples": [2, 2.5]}]
    path = write_results(tmp_path, benchmarks={"b": benchmark({"n": range(3)}, cells, "")}, cpu=cpu)
    assert all(text in path.read_text() for text in ("NaN", " Infinity", "-Infinity"))
    result = read_result(path, {})
    assert [cell.status for cell in result.cells] == ["skipped", "measured", "measured"]
    assert [cell.interval for cell in result.cells] == [None] * 3
    assert [cell.samples for cell in result.cells] == [(), (2.0, math.inf), (2.0, 2.5)]
    assert result.facts["cpu"] == cpu


def test_a_benchmark_that_failed_as_a_whole_failed_in_every_cell(tmp_path: Path) -> None:
    result = _read(tmp_path, b=benchmark({"rows": [1, 2, 3]}, None, ""))
    assert [(c.parameter("rows"), c.status) for c in result.cells] == [
        ("1", "failed"),
        ("2", "failed"),
        ("3", "failed"),
    ]


def test_of_another_version_nobody_knows_the_cells(tmp_path: Path) -> None:
    declaration, row = benchmark({"rows": [1, 2, 3]}, None, "")
    result = _read(tmp_path, b=(declaration, row | {"version": "old"}))
    assert [cell.parameters for cell in result.cells] == [()]


def test_without_a_declaration_parameters_are_numbered_and_units_unknown(tmp_path: Path) -> None:
    path = write_results(tmp_path, benchmarks={"b": benchmark({"rows": [1]}, [2.0], "seconds")})
    (cell,) = read_result(path, {}).cells
    assert (cell.parameters, cell.unit) == ((("parameter 1", "1"),), "")


def test_plans_and_virtual_time_are_exact_and_nothing_else(tmp_path: Path) -> None:
    names = ("plans.Plans.track_x", "end_to_end.EndToEndVirtual.track_x", "end_to_end.EndToEnd.x")
    result = _read(tmp_path, **{name: benchmark({}, [1.0], "") for name in names})
    assert [cell.is_exact for cell in result.cells] == [True, True, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"commit_hash": "<script>"}, "commit_hash '<script>' is no hash"),
        ({"commit_hash": "-rf"}, "is no hash"),
        ({"results": {"b": [[1.0, 2.0], []]}}, "benchmark 'b': result must hold 1 values, not 2"),
        ({"results": {"b": [["fast"], []]}}, "benchmark 'b': 'fast' is no number"),
        ({"results": {"b": [1.0, []]}}, "benchmark 'b': result must hold 1 values, not 1.0"),
        ({"results": {"b": [None, [["1"] * 1_000] * 4]}}, "cells; at most 100000 can be meant"),
        ({"date": "yesterday"}, "no asv result"),
        ({"date": 1e300}, "no asv result"),
        ({"date": 6.8e19}, "no asv result"),
        ({"params": None}, "no asv result"),
        ({"results": []}, "no asv result"),
    ],
)
def test_a_damaged_file_is_refused_with_its_name(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = write_results(tmp_path, benchmarks={})
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(values | {"result_columns": ["result", "params"]} | change))
    with pytest.raises(ValueError, match="no asv result") as caught:
        read_result(path, {})
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"params": {}}', "[" * 100_000])
def test_what_is_no_asv_result_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="no asv result"):
        read_result(path, {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
FIELDS = ("params", "result_columns", "results", "commit_hash", "date")


@given(values=st.fixed_dictionaries(dict.fromkeys(FIELDS, JSON)), declared=JSON)
def test_whatever_json_it_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any], declared: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    good = {"params": {}, "result_columns": ["result"], "results": {}, "commit_hash": COMMIT}
    for field in FIELDS:  # one bad field at a time, or only the first is ever reached
        path.write_text(json.dumps(good | {field: values[field]}), encoding="utf-8")
        _read_or_refused(path, {"b": declared})


@given(values=JSON)
def test_what_is_parsed_is_what_the_standard_library_parses(values: Any) -> None:
    text = json.dumps(values)
    assert _named(_parsed(text.encode())) == _named(json.loads(text))


def _named(values: Any) -> Any:
    """`values` with what is not finite as texts; whole floats are floats in both."""
    if isinstance(values, dict):
        return {name: _named(value) for name, value in values.items()}
    if isinstance(values, list):
        return [_named(value) for value in values]
    if isinstance(values, float) and not math.isfinite(values):
        return str(values)
    return values


@given(row=st.lists(JSON, max_size=8))
def test_whatever_a_benchmark_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, row: list[Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "row.json"
    columns = ["result", "params", "version", "started_at", "stats_ci_99_a", "samples"]
    values = {"params": {}, "result_columns": columns, "results": {"b": row}}
    path.write_text(json.dumps(values | {"commit_hash": COMMIT}), encoding="utf-8")
    _read_or_refused(path, {})


def _read_or_refused(path: Path, declared: dict[str, Any]) -> None:
    refusal = str(path)
    try:
        read_result(path, declared)
    except ValueError as error:
        refusal = str(error)
    assert str(path) in refusal
