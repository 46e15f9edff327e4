"""The frozen queues: pinned by checksum, free of the code under test, equal to today's mixes."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

import pytest

from benchmarks import queues
from decider.traces import read_trace, windows
from decider.workloads import MIXES, row_lengths

# Of the rows of seeds 0, 1 and 2 at 4,096 rows. A new value needs a new queues.VERSION.
CHECKSUMS = {
    "short": "8893565b18ee5eed",
    "decision": "cf4cee7cd989f5d8",
    "chat": "24a920ffad194743",
    "code": "a0b4239707e91c86",
    "uniform": "ab87ad5b0379224f",
    "equal": "e9464eb45438b235",
    "bimodal": "f19e17b320041abd",
}
TRACE_ROWS = {"chat": 19_366, "code": 8_819}


@pytest.mark.parametrize("mix", queues.MIXES)
def test_the_queues_of_version_1_are_pinned(mix: str) -> None:
    rows = [length for seed in range(3) for length in queues.queue(mix, 4_096, seed)]
    checksum = hashlib.sha256(" ".join(map(str, rows)).encode()).hexdigest()[:16]
    assert (queues.VERSION, checksum) == ("1", CHECKSUMS[mix])


def test_they_are_todays_mixes_of_decider() -> None:
    assert set(queues.MIXES) == set(MIXES)
    for mix in queues.MIXES:
        for size in (0, 1, 8, 300):
            for seed in (0, 7):
                assert queues.queue(mix, size, seed) == row_lengths(mix, size, seed).tolist()


def test_they_come_from_nothing_that_a_commit_could_change() -> None:
    tree = ast.parse(Path(queues.__file__).read_text(encoding="utf-8"))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in (
            [node.module or "."]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
        )
    }
    assert "decider" not in imported
    assert "." not in imported


def test_rows_are_plain_ints() -> None:
    assert {type(length) for length in queues.queue("chat", 5)} == {int}


def test_an_absent_trace_is_none(tmp_path: Path) -> None:
    assert queues.trace_queues("chat", tmp_path) is None


def test_a_trace_is_cut_into_windows_of_its_own_time(tmp_path: Path) -> None:
    rows = ["18:00:00.0,1", "18:00:01.4999999,2", "18:00:04.5,4", "18:00:01.5,3"]
    text = "".join(f"2023-11-16 {row},9\r\n" for row in rows)
    (tmp_path / queues.TRACES["chat"]).write_text(
        f"TIMESTAMP,ContextTokens,GeneratedTokens\n{text}"
    )
    assert queues.trace_queues("chat", tmp_path) == [[1, 2], [3], [4]]


@pytest.mark.parametrize("trace", sorted(queues.TRACES))
def test_the_windows_are_those_of_the_trace_reader(trace: str) -> None:
    waiting = queues.trace_queues(trace)
    if waiting is None:
        pytest.skip(f"the real trace {queues.TRACES[trace]} is not in ../shared/data")
    assert sum(map(len, waiting)) == TRACE_ROWS[trace]
    rows = read_trace(queues.TRACE_FOLDER / queues.TRACES[trace])
    milliseconds = queues.TRACE_WINDOW_S[trace] * 1_000
    assert waiting == [window.lengths for window in windows(rows, milliseconds)]
