"""The queues a constant is judged on: held out, cut to the grid, from mixes or a trace."""

import pytest

from decider.perf.calibration.queues import (
    FIRST_SEED,
    SIZES,
    queues_of_mixes,
    queues_of_trace,
)
from decider.workloads import MIXES, row_lengths


def trace(folder, tokens):
    rows = [f"2023-11-16 18:15:{i // 100:02}.{i % 100:02}00000,{n},7" for i, n in enumerate(tokens)]
    path = folder / "service.csv"
    path.write_text("\n".join(["TIMESTAMP,ContextTokens,GeneratedTokens", *rows]) + "\n")
    return path


def test_every_mix_and_size_has_its_queues():
    strata = queues_of_mixes(list(MIXES), 3, 8192)
    assert [(s.mix, s.size) for s in strata] == [(m, n) for m in MIXES for n in SIZES]
    assert all(len(q) == s.size for s in strata for q in s.queues)
    assert all(len(s.queues) == 3 for s in strata)


def test_rows_are_cut_to_the_grid():
    strata = queues_of_mixes(["decision"], 5, 1024)
    assert max(n for s in strata for q in s.queues for n in q) == 1024


def test_the_seeds_are_not_those_of_the_benchmarks():
    (first, *_) = queues_of_mixes(["decision"], 1, 8192)
    assert list(first.queues[0]) == row_lengths("decision", 4, FIRST_SEED).tolist()
    assert FIRST_SEED >= 1_000_000


def test_an_unknown_mix_is_refused():
    with pytest.raises(ValueError, match="no mix is named 'nosuch'"):
        queues_of_mixes(["nosuch"], 1, 1024)


def test_a_trace_is_cut_into_queues_that_follow_each_other(tmp_path):
    path = trace(tmp_path, range(1, 41))
    strata = queues_of_trace(path, 2, 20, print)
    assert [(s.mix, s.size, len(s.queues)) for s in strata] == [
        ("service", 4, 2),
        ("service", 8, 2),
        ("service", 16, 2),
        ("service", 32, 1),
    ]
    assert strata[0].queues == ([1, 2, 3, 4], [5, 6, 7, 8])
    assert max(strata[3].queues[0]) == 20


def test_a_trace_shorter_than_a_queue_is_refused(tmp_path):
    with pytest.raises(ValueError, match="3 rows, fewer than a queue of 4"):
        queues_of_trace(trace(tmp_path, [5, 6, 7]), 2, 100, print)
