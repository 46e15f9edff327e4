"""Numbers for people."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.perf.report.quantities import counted, exact, quantity, ratio


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (12.34, "seconds", "12.3 s"),
        (0.01234, "seconds", "12.3 ms"),
        (1.5e-6, "seconds", "1.50 µs"),
        (3e-12, "seconds", "0.00300 ns"),
        (0, "seconds", "0 ns"),
        (1.5 * 2**30, "bytes", "1.50 GiB"),
        (17, "bytes", "17.0 B"),
        (1234.5, "microseconds", "1,234 µs"),
        (0.9996, "ratio", "1.000"),
        (1.0, "ratio", "1.000"),
        (0.04529, "ratio", "0.0453"),
        (4, "forwards", "4.00 forwards"),
        (-2.5, "", "-2.50"),
        (1e300, "", "1.00e+300"),
        (math.inf, "seconds", "infinite"),
        (math.nan, "seconds", "not a number"),
    ],
)
def test_a_quantity(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


@given(st.floats(min_value=1e-9, max_value=1e6))
def test_three_digits_are_kept(value: float) -> None:
    number, unit = quantity(value, "seconds").replace(",", "").split()
    scale = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit]
    assert float(number) * scale == pytest.approx(value, rel=0.0051)


def test_an_exact_figure_shows_any_change_that_matters() -> None:
    assert exact(0.9054373522458629) != exact(0.9054373522458629 + 1e-11)
    assert exact(122.05) == "122.05"


@pytest.mark.parametrize(("now", "before"), [(1, 0), (1, -1), (math.nan, 1), (1, math.inf)])
def test_a_ratio_that_means_nothing_is_none(now: float, before: float) -> None:
    assert math.isnan(ratio(now, before))


def test_counts() -> None:
    assert [counted(n, "cell") for n in (0, 1, 1000)] == ["0 cells", "1 cell", "1,000 cells"]
