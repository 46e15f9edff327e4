"""Samples as strips."""

from __future__ import annotations

import math
import re

from hypothesis import given
from hypothesis import strategies as st

from decider.perf.report.strips import WIDTH, strip


def _ticks(drawn: str) -> list[int]:
    return [int(x) for x in re.findall(r"M(\d+) 4v6", drawn)]


def test_a_tick_stands_by_its_ratio_to_the_median() -> None:
    assert _ticks(strip([0.5, 1.0, 2.0], "seconds")) == [1, WIDTH // 2, WIDTH - 1]


def test_samples_beyond_the_strip_stand_at_its_ends() -> None:
    assert _ticks(strip([-1.0, 0.01, 1.0, 50.0, 1.0], "seconds")) == [1, WIDTH // 2, WIDTH - 1]


def test_its_text_tells_number_and_range() -> None:
    assert 'aria-label="3 samples, 500 ms to 2.00 s"' in strip([0.5, 1.0, 2.0], "seconds")


def test_nothing_to_draw_is_nothing() -> None:
    assert strip([], "seconds") == strip([math.nan, math.inf], "seconds") == ""


def test_a_hostile_unit_stays_text() -> None:
    assert '"><script>' not in strip([1.0], '"><script>')


@given(st.lists(st.floats(allow_nan=False), max_size=400))
def test_its_size_does_not_grow_with_the_samples(samples: list[float]) -> None:
    ticks = _ticks(strip(samples, "seconds"))
    assert len(ticks) == len(set(ticks)) <= WIDTH
    assert all(1 <= tick < WIDTH for tick in ticks)
