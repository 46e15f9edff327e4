"""What a load sends and when: a mix's rows in turn, arrivals at a rate, traces in their time."""

from __future__ import annotations

import io
from itertools import islice

import numpy as np
import pytest

from decider.serve.traffic import RowName, mixed_rows, timed_arrivals, trace_arrivals
from decider.workloads import row_lengths

TRACE = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
    f"2023-11-16 18:15:4{second}.0000000,{tokens},7\n" for second, tokens in enumerate([5, 70, 900])
)


def test_every_pass_over_the_rows_of_a_mix_holds_each_of_them_once_in_another_order():
    rows = mixed_rows("decision", distinct=50, seed=3, longest=1_024)
    first, second = list(islice(rows, 50)), list(islice(rows, 50))
    assert sorted(first) == sorted(second)
    assert first != second
    lengths = row_lengths("decision", 50, 3, longest=1_024).tolist()
    assert [name.tokens for name in sorted(first, key=lambda name: name.variant)] == lengths


def test_the_same_seed_gives_the_same_rows():
    first, second = (list(islice(mixed_rows("short", seed=1), 300)) for _ in range(2))
    assert first == second
    assert first != list(islice(mixed_rows("short", seed=2), 300))


def test_arrivals_keep_the_rate_and_end_in_time():
    arrivals = list(timed_arrivals(mixed_rows("equal"), rate=50, seconds=60, rows_per_request=3))
    times = [arrival.at for arrival in arrivals]
    assert times == sorted(times)
    assert times[-1] < 60
    assert len(times) == pytest.approx(3_000, abs=4 * 3_000**0.5)
    assert {len(arrival.rows) for arrival in arrivals} == {3}


def test_bursts_bunch_arrivals_and_keep_the_rate():
    def gaps(variation: float) -> np.ndarray:
        rows = mixed_rows("equal")
        stream = timed_arrivals(rows, rate=20, seconds=500, variation=variation, seed=5)
        return np.diff([arrival.at for arrival in stream])

    even, poisson, bursty = gaps(0), gaps(1), gaps(3)
    assert even.std() < 1e-9
    assert poisson.std() / poisson.mean() == pytest.approx(1, abs=0.05)
    assert bursty.std() / bursty.mean() == pytest.approx(3, abs=0.4)
    assert bursty.mean() == pytest.approx(1 / 20, rel=0.15)


def test_a_short_and_slow_stream_may_be_empty():
    assert list(timed_arrivals(mixed_rows("equal"), rate=1e-6, seconds=1)) == []


def test_a_trace_is_replayed_in_compressed_time_and_cut():
    arrivals = list(trace_arrivals(io.StringIO(TRACE), seconds=0.5, speed=4, longest=60))
    assert arrivals == [(0.0, (RowName(5, 0),)), (0.25, (RowName(60, 0),))]


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (lambda: mixed_rows("nothing"), "nothing"),
        (lambda: mixed_rows("short", distinct=0), "0"),
        (lambda: timed_arrivals(mixed_rows("short"), rate=0, seconds=1), "rate"),
        (lambda: timed_arrivals(mixed_rows("short"), rate=1, seconds=-1), "seconds"),
        (lambda: timed_arrivals(mixed_rows("short"), rate=1e9, seconds=9), "ten million"),
        (lambda: trace_arrivals("x.csv", seconds=float("nan")), "nan"),
    ],
)
def test_bad_arguments_are_named_at_the_call(bad, named):
    with pytest.raises(ValueError, match=named):
        bad()
