"""How verdicts and changes are written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.perf.comparison.document import VERDICTS
from decider.perf.report.compared.words import (
    SIGNS,
    interval,
    interval_of,
    signed,
    verdict_word,
    worst_first,
)
from tests.perf.report.comparisons import cell, unchecked


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (0.0312, "+3.1%"),
        (-0.0312, "−3.1%"),
        (0.0025, "+0.25%"),
        (0.0, "0.00%"),
        (-0.00001, "0.00%"),
        (1.5, "+150%"),
        (12.0, "+1,200%"),
        (1e90, "+1.0e+92%"),
        (math.inf, "+∞%"),
        (-math.inf, "−∞%"),
        (math.nan, ""),
        (None, ""),
    ],
)
def test_a_change_has_its_sign_and_as_many_digits_as_it_needs(
    change: float | None, text: str
) -> None:
    assert signed(change) == text


@given(st.floats(min_value=0.0001, max_value=1e9))
def test_slower_and_faster_differ_in_the_sign_only(change: float) -> None:
    assert signed(-change) == signed(change).replace("+", "−", 1)


def test_a_missing_end_of_an_interval_is_told() -> None:
    assert interval(-0.01, 0.02) == "−1.0% to +2.0%"
    assert interval(None, 0.02) == "up to +2.0%"
    assert interval(-0.01, None) == "−1.0% and more"
    assert interval(None, None) == "unbounded"
    assert interval_of(cell("forward/1x64", "failed")) == ""


def test_every_verdict_has_a_sign_of_its_own() -> None:
    assert tuple(SIGNS) == VERDICTS
    assert len(set(SIGNS.values())) == len(VERDICTS)


def test_a_void_run_gives_no_verdict() -> None:
    found = cell("forward/1x64", "regressed", 0.1)
    assert verdict_word(found, void=False) == "▲ regressed"
    assert verdict_word(found, void=True) == "void"


def test_the_worst_come_first() -> None:
    cells = [
        cell("a", "unchanged", 0.001),
        cell("b", "improved", -0.5),
        cell("c", "inconclusive", 0.01, low=-0.1, high=0.1),
        cell("d", "inconclusive", 0.01, low=None, high=0.1),
        cell("e", "not comparable"),
        cell("f", "failed"),
        cell("g", "regressed", 0.02),
        cell("h", "regressed", 0.3),
    ]
    assert [one["id"] for one in worst_first(unchecked(cells))] == list("hgfedcba")
