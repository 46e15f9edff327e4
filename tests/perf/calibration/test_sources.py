"""A path is read by what it is, and a wrong one is told."""

import pytest

from decider.perf.calibration.sources import read_source, read_sources


def test_several_files_are_runs(tmp_path):
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("num_tokens,milliseconds\n64,1\n")
    found = read_sources([tmp_path / "one.csv", tmp_path / "two.csv"])
    assert found.run_count == 2


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(ValueError, match=r"gone\.json: No such file"):
        read_source(tmp_path / "gone.json")


def test_a_file_of_no_known_kind_is_told_what_is_known(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    with pytest.raises(ValueError, match=r"neither a CSV table nor JSON.*give a grid file"):
        read_source(path)


def test_a_binary_file_is_told(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"data\.csv"):
        read_source(path)


def test_another_schema_is_told(tmp_path):
    path = tmp_path / "cost.json"
    path.write_text('{"schema": "decider.cost/1"}')
    with pytest.raises(ValueError, match=r"found 'decider\.cost/1'"):
        read_source(path)
