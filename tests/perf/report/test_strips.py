"""Samples as strips."""

from __future__ import annotations

import math
import re

from hypothesis import given
from hypothesis import strategies as st

from decider.perf.report.strips import RATIO_REACH, WIDTH, ratio_strip, strip


def _ticks(drawn: str) -> list[int]:
    runs = re.findall(r"M(\d+) 7h(\d+)", drawn)
    return [int(start) + step for start, length in runs for step in range(int(length))]


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


def test_a_pair_stands_by_its_log_ratio_and_no_change_in_the_middle() -> None:
    reach = math.log(RATIO_REACH)
    assert _ticks(ratio_strip([0.0, reach, -reach, 9.0])) == [1, WIDTH // 2, WIDTH - 1]
    assert 'aria-label="-9.09% to +8.05e+03%"' in ratio_strip([0.0, -reach, 4.4])


def test_pairs_that_are_no_numbers_are_not_drawn() -> None:
    assert ratio_strip([]) == ratio_strip([math.nan, math.inf, -math.inf]) == ""
    assert _ticks(ratio_strip([1e300, 0.0])) == [WIDTH // 2, WIDTH - 1]


def test_neighbours_share_a_stroke() -> None:
    pixel = math.log(RATIO_REACH) / (WIDTH / 2 - 1)
    drawn = ratio_strip([number * pixel for number in range(5)])
    assert f'd="M{WIDTH // 2} 7h5"' in drawn


@given(st.lists(st.floats(), max_size=400))
def test_a_strip_of_pairs_does_not_grow_with_them_either(ratios: list[float]) -> None:
    ticks = _ticks(ratio_strip(ratios))
    assert len(ticks) == len(set(ticks)) <= WIDTH
    assert all(1 <= tick < WIDTH for tick in ticks)
