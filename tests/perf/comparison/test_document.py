"""Documents are checked when they are read and before they are written."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path

import pytest

from decider.perf.comparison.assembly import assemble
from decider.perf.comparison.document import (
    check_comparison,
    check_self_test,
    read_comparison,
    write_document,
)
from tests.perf.comparison.runs import Arms, finished, subject


@pytest.fixture(scope="module")
def document():
    return assemble(finished(Arms(), (2,)), subject())


def test_what_is_written_is_read_again(document, tmp_path: Path):
    write_document(tmp_path / "c.json", document)
    assert read_comparison(tmp_path / "c.json") == json.loads(json.dumps(document))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ("[]", "no document of schema"),
        ('{"schema": "other"}', "no document of schema 'decider-comparison'"),
        ('{"schema": "decider-comparison", "schema_version": 2}', "version 2; this decider reads"),
        ('{"schema": "decider-comparison", "schema_version": 1}', "required property"),
        ('{"schema": NaN}', "no JSON: unexpected character"),
    ],
)
def test_what_is_no_comparison_is_refused_with_its_name(tmp_path: Path, text, message):
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_comparison(path)
    assert str(path) in str(caught.value)


def test_what_is_nested_without_end_is_refused(document, tmp_path: Path):
    deep = "[" * 1000 + "]" * 1000
    (tmp_path / "c.json").write_text(
        json.dumps({**document, "void": "DEEP"}).replace('"DEEP"', deep)
    )
    with pytest.raises(ValueError, match=r"c\.json: nested too deeply"):
        read_comparison(tmp_path / "c.json")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path):
    (tmp_path / "c.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="no JSON"):
        read_comparison(tmp_path / "c.json")


def test_the_place_of_a_mistake_is_named(document):
    damaged = json.loads(json.dumps(document))
    damaged["cells"][1]["verdict"] = "fine"
    with pytest.raises(ValueError, match='cells/1/verdict: "fine" is not one of'):
        check_comparison(damaged)


@pytest.mark.parametrize(
    ("value", "message"),
    [(5, "control: 5 is not valid under any"), ({"id": 5}, "control/id: 5 is not of type")],
)
def test_a_mistake_in_what_may_be_null_is_named_where_it_is(document, value, message):
    with pytest.raises(ValueError, match=message):
        check_comparison({**document, "control": value})


@pytest.mark.parametrize("wild", [math.inf, -math.inf, math.nan, 1e200, 10**400])
def test_a_number_that_cannot_be_meant_is_refused_with_its_place(document, wild):
    damaged = copy.deepcopy(document)
    damaged["cells"][0]["head_value"] = wild
    with pytest.raises(ValueError, match="cells/0/head_value: the number there is too large"):
        check_comparison(damaged)


def test_a_number_that_json_reads_as_infinite_is_refused(document, tmp_path: Path):
    text = json.dumps({**document, "spent_seconds": 301.0})
    (tmp_path / "c.json").write_text(text.replace("301.0", "1e999"))
    with pytest.raises(ValueError, match=r"c\.json: no JSON: number is infinity .* column"):
        read_comparison(tmp_path / "c.json")


def test_a_mistake_of_ours_is_not_written(document, tmp_path: Path):
    damaged = {**document, "outcome": {}}
    with pytest.raises(ValueError, match="outcome"):
        write_document(tmp_path / "c.json", damaged)
    assert list(tmp_path.iterdir()) == []


def test_a_comparison_is_no_self_test(document):
    with pytest.raises(ValueError, match="decider-self-test"):
        check_self_test(document)
