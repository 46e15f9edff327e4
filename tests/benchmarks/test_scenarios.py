"""The loads: rows of the frozen queues, cut to the grid; arrivals that stay the same."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from benchmarks import queues
from benchmarks.scenarios import (
    CAPACITY_LOAD,
    LOADS,
    MIXES,
    VERSION,
    poisson_arrivals,
    row_lengths,
)
from decider.workloads import arrival_times


def test_rows_are_those_of_the_frozen_queues():
    for mix in MIXES:
        assert row_lengths(mix, 500, 1_024) == [min(n, 1_024) for n in queues.queue(mix, 500)]


def test_arrivals_of_version_1_are_pinned():
    text = " ".join(f"{at:.6f}" for at in poisson_arrivals(2.0, 1_000))
    checksum = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert (VERSION[0], checksum) == ("1", "580cb6bf30cc9fe2")


def test_arrivals_are_todays_of_decider():
    for rate in (0.5, 40.0):
        expected = arrival_times(rate, 300, seed=3)
        assert poisson_arrivals(rate, 300, seed=3) == pytest.approx(expected)
    assert 1 / np.diff(poisson_arrivals(7.0, 20_000)).mean() == pytest.approx(7, rel=0.03)


def test_capacity_is_measured_before_the_open_loop_needs_it():
    names = list(LOADS)
    opened = [name for name in names if not LOADS[name].clients]
    assert all(names.index(CAPACITY_LOAD) < names.index(name) for name in opened)
    assert opened
    assert all(kind.rows >= kind.clients for kind in LOADS.values())
