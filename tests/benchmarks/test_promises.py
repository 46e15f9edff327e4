"""What plans promise: priced by the table, and the same when nothing arrives meanwhile."""

from __future__ import annotations

import pytest

from benchmarks.policies import PER_BUCKET, policies
from benchmarks.promises import promises
from benchmarks.scenarios import row_lengths
from decider.grid import CPU_GRID

TIMES = {(b, t): 30 + 0.2 * b * t for b, t in CPU_GRID.shapes}


def test_one_whole_queue_is_replayed_as_it_is_priced():
    lengths = {("short", "closed 64"): row_lengths("short", 64, 1_024)}
    for promise in promises(CPU_GRID, TIMES, lengths).values():
        assert promise.replayed == pytest.approx(promise.priced)


def test_queues_are_priced_apart_and_against_per_bucket():
    lengths = row_lengths("decision", 24, 1_024)
    found = promises(CPU_GRID, TIMES, {("decision", "closed 8"): lengths})
    ladder = policies(CPU_GRID, TIMES)["ladder"]
    per_bucket = policies(CPU_GRID, TIMES)[PER_BUCKET]

    def milliseconds(policy):
        return sum(
            TIMES[CPU_GRID.batch_bucket(len(rows)), T]
            for first in (0, 8, 16)
            for T, rows in policy.plan(lengths[first : first + 8])
        )

    expected = milliseconds(per_bucket) / milliseconds(ladder)
    assert found["decision", "closed 8", "ladder"].priced == pytest.approx(expected)
    assert found["decision", "closed 8", PER_BUCKET].priced == 1
    assert found["decision", "closed 8", PER_BUCKET].replayed == 1


def test_the_measured_plan_of_a_queue_is_never_priced_above_another():
    lengths = {
        (mix, load): row_lengths(mix, 128, 1_024)
        for mix in ("short", "decision")
        for load in ("closed 8", "closed 64")
    }
    found = promises(CPU_GRID, TIMES, lengths)
    for mix, load in lengths:
        best = found[mix, load, "measured"].priced
        priced = [promise.priced for key, promise in found.items() if key[:2] == (mix, load)]
        assert best == pytest.approx(max(priced), rel=1e-3)  # costs are rounded to 1/1024
