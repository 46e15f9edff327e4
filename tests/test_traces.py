"""Traces: order, cuts and windows against plain oracles, in little memory; real ones if here."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import logging
import math
import tracemalloc
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TextIO, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.trace_formats import Columns
from decider.traces import TraceRow, read_trace, windows

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
REAL = {"conv": (19_366, 1_020, 14_050), "code": (8_819, 1_469, 7_437)}
PLAIN = Columns("t", "n")

times = st.integers(0, 50).map(lambda quarter: quarter / 4)
requests = st.lists(st.tuples(times, st.integers(0, 9_000)), max_size=40)


def plain(rows: list[tuple[float, int]]) -> TextIO:
    return io.StringIO("t,n\n" + "".join(f"{time},{tokens}\n" for time, tokens in rows))


def read(rows: list[tuple[float, int]], **options: object) -> list[TraceRow]:
    heard: list[str] = []
    options.setdefault("say", heard.append)
    return list(read_trace(plain(rows), columns=PLAIN, **options))  # type: ignore[arg-type]


def sorted_whole(rows: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """What reading means: drop the empty, sort by time alone, count from the first."""
    kept = sorted((row for row in rows if row[1]), key=lambda row: row[0])
    return [(time - kept[0][0], tokens) for time, tokens in kept]


class Endless:
    """A file that never ends, and says how many lines were asked of it."""

    def __init__(self) -> None:
        self.asked = 0

    def readline(self, _limit: int = -1) -> str:
        self.asked += 1
        return "t,n\n" if self.asked == 1 else f"{self.asked},7\n"


@given(requests)
def test_rows_come_in_order_of_arrival(rows: list[tuple[float, int]]) -> None:
    assert read(rows) == sorted_whole(rows)
    assert read(rows, reorder=None) == sorted_whole(rows)


@given(requests, st.integers(0, 8))
def test_a_short_memory_gives_the_same_order_or_an_error(
    rows: list[tuple[float, int]], held: int
) -> None:
    kept = [time for time, tokens in rows if tokens]
    late = any(sum(t > time for t in kept[:i]) > held for i, time in enumerate(kept))
    if late:
        with pytest.raises(ValueError, match="hold more rows back"):
            read(rows, reorder=held)
    else:
        assert read(rows, reorder=held) == sorted_whole(rows)


def test_a_row_too_late_is_refused_with_line_and_way_out() -> None:
    with pytest.raises(ValueError, match=r"<trace>:5: more than 2 rows that arrived later .*=None"):
        read([(1, 5), (2, 5), (3, 5), (0, 5)], reorder=2)


@given(requests)
def test_what_was_out_of_order_or_empty_is_said_with_its_number(
    rows: list[tuple[float, int]],
) -> None:
    heard: list[str] = []
    read(rows, say=heard.append)
    empty = sum(tokens == 0 for _, tokens in rows)
    kept = [time for time, tokens in rows if tokens]
    late = sum(time < max(kept[:i], default=0) for i, time in enumerate(kept))
    assert heard == [
        *([f"<trace>: left out {empty} requests of zero tokens"] if empty else []),
        *([f"<trace>: put {late} rows in order that stood after a later one"] if late else []),
    ]


def test_it_is_said_in_the_log_by_default(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="decider.traces"):
        assert len(list(read_trace(plain([(2, 5), (1, 5), (3, 0)]), columns=PLAIN))) == 2
    assert [record.message for record in caplog.records] == [
        "<trace>: left out 1 requests of zero tokens",
        "<trace>: put 1 rows in order that stood after a later one",
    ]


def test_whoever_stops_early_is_told_too() -> None:
    heard: list[str] = []
    rows = read_trace(plain([(2, 5), (1, 5), (3, 5)]), columns=PLAIN, say=heard.append)
    assert next(rows) == (0.0, 5)
    assert heard == []
    cast(Generator[TraceRow, None, None], rows).close()
    assert len(heard) == 1


@given(requests, times, st.one_of(st.none(), times.filter(bool)), st.sampled_from([0.5, 1, 8]))
def test_a_cut_is_counted_from_its_start_and_then_compressed(
    rows: list[tuple[float, int]], start: float, seconds: float | None, speed: float
) -> None:
    end = math.inf if seconds is None else start + seconds
    inside = [(t, n) for t, n in sorted_whole(rows) if start <= t < end]
    assert read(rows, start=start, seconds=seconds, speed=speed) == [
        ((t - start) / speed, n) for t, n in inside
    ]


def test_a_cut_stops_reading_at_its_end() -> None:
    file = Endless()
    rows = read_trace(cast(TextIO, file), columns=PLAIN, seconds=10, reorder=5)
    assert len(list(rows)) == 10
    assert file.asked < 20


def test_no_more_is_read_than_is_held_back() -> None:
    file = Endless()
    rows = read_trace(cast(TextIO, file), columns=PLAIN, reorder=100)
    assert len(list(itertools.islice(rows, 50))) == 50
    assert file.asked <= 1 + 50 + 101


def test_memory_does_not_grow_with_the_file() -> None:
    def peak(count: int) -> int:
        rows = read_trace(cast(TextIO, Endless()), columns=PLAIN, reorder=200)
        tracemalloc.start()
        try:
            for _ in itertools.islice(rows, count):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1_000)  # caches fill
    assert peak(20_000) < 2 * peak(1_000)


def test_nothing_is_opened_before_the_first_row(tmp_path: Path) -> None:
    rows = read_trace(tmp_path / "absent.csv")
    with pytest.raises(ValueError, match=r"absent\.csv: cannot be read: No such file"):
        next(rows)


def test_a_folder_is_no_trace(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        list(read_trace(tmp_path))


def test_an_open_file_is_left_open() -> None:
    file = plain([(1, 2)])
    assert list(read_trace(file, columns=PLAIN)) == [(0.0, 2)]
    assert not file.closed


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_gzip_is_recognised_by_its_content(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes(pack(b"\xef\xbb\xbft,n,model\r\n5,70,caf\xe9\r\n6,80,x"))
    assert list(read_trace(str(path), columns=PLAIN)) == [(0.0, 70), (1.0, 80)]


def test_a_broken_gzip_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv.gz"
    rows = "".join(f"{i},{i * i % 997 + 1}\n" for i in range(20_000))
    whole = gzip.compress(f"t,n\n{rows}".encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"trace\.csv\.gz:\d+: cannot be read: .*ended"):
        list(read_trace(path, columns=PLAIN))
    path.write_bytes(whole[:100] + b"\x00" * 50 + whole[150:])
    with pytest.raises(ValueError, match=r"trace\.csv\.gz:\d+: "):
        list(read_trace(path, columns=PLAIN))


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"format": "azur"}, "no trace format 'azur'; there are auto, azure, burstgpt, mooncake, "),
        ({"format": "azure", "columns": PLAIN}, "'azure' has its own columns; .* csv or jsonl"),
        ({"format": "csv"}, "'csv' needs the columns"),
        ({"start": -1}, "start must be a finite number of at least 0, not -1"),
        ({"start": math.nan}, "start must be .* not nan"),
        ({"seconds": 0}, "seconds must be a number above 0, not 0"),
        ({"seconds": math.nan}, "seconds must be .* not nan"),
        ({"speed": 0}, r"speed must be from 1e-06 to 1e\+09, not 0"),
        ({"speed": math.inf}, "speed must be .* not inf"),
        ({"reorder": -1}, "reorder must be a whole number of at least 0 or None, not -1"),
        ({"reorder": 2.5}, "reorder must be .* not 2.5"),
    ],
)
def test_bad_arguments_are_refused_at_the_call(options: dict[str, object], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        read_trace("never-opened.csv", **options)  # type: ignore[arg-type]


@given(requests, st.sampled_from([250, 1_000, 3_000]))
def test_windows_hold_what_arrived_in_each(rows: list[tuple[float, int]], ms: int) -> None:
    ordered = read(rows)
    expected = []
    for index in range(60):
        inside = [n for t, n in ordered if index * ms <= t * 1_000 < (index + 1) * ms]
        if inside:
            expected.append((index * ms / 1_000, inside))
    assert list(windows(ordered, ms)) == expected


def test_windows_are_given_as_soon_as_they_are_over() -> None:
    rows = read_trace(cast(TextIO, Endless()), columns=PLAIN, reorder=0)
    assert next(windows(rows, 3_000)) == (0.0, [7, 7, 7])


@pytest.mark.parametrize("milliseconds", [0, -1, math.inf, math.nan, 1e-9])
def test_an_impossible_window_is_refused_at_the_call(milliseconds: float) -> None:
    with pytest.raises(ValueError, match=f"at least 0.001 ms and finite, not {milliseconds!r}"):
        windows([], milliseconds)


def test_windows_refuse_rows_out_of_order() -> None:
    with pytest.raises(ValueError, match=r"arrives at 1\.0 s comes after 2\.0 s"):
        list(windows([TraceRow(2.0, 1), TraceRow(1.0, 1)], 50))


@pytest.mark.parametrize("trace", sorted(REAL))
def test_the_azure_traces_are_read_as_they_are_described(trace: str) -> None:
    path = DATA / f"AzureLLMInferenceTrace_{trace}.csv"
    if not path.exists():
        pytest.skip(f"the real trace {path.name} is not in ../shared/data")
    count, median, longest = REAL[trace]
    heard: list[str] = []
    rows = list(read_trace(path, say=heard.append))
    arrivals = [row.arrival for row in rows]
    assert heard == []
    assert len(rows) == count
    assert arrivals[0] == 0.0
    assert arrivals == sorted(arrivals)
    tokens = [row.tokens for row in rows]
    assert np.quantile(tokens, 0.5, method="inverted_cdf") == median
    assert max(tokens) == longest
    waiting = list(windows(iter(rows), 1_000))
    assert sum(len(window.lengths) for window in waiting) == count
    assert [n for window in waiting for n in window.lengths] == tokens


def test_a_trace_as_jsonl_and_as_csv_is_one_trace() -> None:
    rows = [(0.5, 10), (0.25, 20), (3.0, 30)]
    text = "".join(json.dumps({"n": tokens, "t": time}) + "\n" for time, tokens in rows)
    assert list(read_trace(io.StringIO(text), columns=PLAIN, say=print)) == read(rows)
