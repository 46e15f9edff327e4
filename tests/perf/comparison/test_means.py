"""The mean of a benchmark is one more cell."""

from __future__ import annotations

import math
from statistics import fmean

import pytest

from decider.perf.comparison.means import mean_cell, mean_of, with_means
from decider.perf.comparison.pair import CellPair, Pair


def pair(**ratios: float) -> Pair:
    """A pair whose cells have these ratios of head over base."""
    cells = {
        name: CellPair(1, {"base": [[1.0], [4.0]], "head": [[ratio], [4 * ratio]]})
        for name, ratio in ratios.items()
    }
    return Pair(1, "base", cells=cells)


def test_its_log_ratio_is_the_mean_of_the_cells():
    measured = pair(a=1.1, b=0.9, c=1.3)
    with_means(measured, {"mean/forward": ["a", "b"]})
    expected = fmean([math.log(1.1), math.log(0.9)])
    assert measured.cells["mean/forward"].log_ratio == pytest.approx(expected)


def test_its_time_is_the_geometric_mean_of_the_cells():
    measured = pair(a=1.0, b=1.0)
    with_means(measured, {"mean/forward": ["a", "b"]})
    assert measured.cells["mean/forward"].blocks["base"] == [[pytest.approx(2.0)]]


def test_a_pair_that_lacks_a_member_has_no_mean():
    measured = pair(a=1.1)
    with_means(measured, {"mean/forward": ["a", "b"]})
    assert set(measured.cells) == {"a"}


def test_one_cell_is_its_own_mean_and_gets_none():
    measured = pair(a=1.1)
    with_means(measured, {"mean/forward": ["a"]})
    assert set(measured.cells) == {"a"}


def test_a_mean_is_named_after_its_benchmark():
    assert mean_cell("forward")["id"] == mean_of({"benchmark": "forward"}) == "mean/forward"
