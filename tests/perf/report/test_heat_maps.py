"""Heat maps as tables."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from decider.perf.report.heat_maps import SHADES, Entry, heat_map
from tests.perf.report.contrast import contrast


def test_rows_and_columns_rise_as_numbers_and_holes_are_blank() -> None:
    entries = [
        Entry("2", "1024", "measured", 2.0, "seconds"),
        Entry("1", "64", "failed", math.nan, ""),
        Entry("1", "128", "skipped", math.nan, ""),
        Entry("2", "64", "absent", math.nan, ""),
    ]
    table = heat_map("title", "B", "T", entries)
    assert table.columns == ("64", "128", "1024")
    assert [(name, [s.text for s in squares]) for name, squares in table.rows] == [
        ("1", ["failed", "", ""]),
        ("2", ["missing", "", "2.00 s"]),
    ]
    kinds = [[square.kind for square in squares] for _, squares in table.rows]
    assert kinds == [["failed", "skipped", "absent"], ["failed", "absent", "measured"]]


def test_names_keep_their_order() -> None:
    entries = [Entry(name, "8", "measured", 1.0, "") for name in ("short", "chat", "10")]
    assert [name for name, _ in heat_map("", "mix", "rows", entries).rows] == [
        "short",
        "chat",
        "10",
    ]


def test_what_is_said_is_how_sure_it_is() -> None:
    ((_, (square,)),) = heat_map(
        "", "B", "T", [Entry("1", "64", "measured", 0.002, "seconds", "9 samples")]
    ).rows
    assert square.said == "2.00 ms (9 samples)"


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_shades_rise_with_values_and_span_all_steps(values: list[float]) -> None:
    entries = [
        Entry("r", str(number), "measured", value, "") for number, value in enumerate(values)
    ]
    ((_, squares),) = heat_map("", "r", "c", entries).rows
    drawn = sorted(
        (value, square.shade)
        for value, square in zip(values, squares, strict=True)
        if 0 < value < math.inf and square.shade is not None
    )
    assert len(drawn) == sum(0 < value < math.inf for value in values)
    shades = [shade for _, shade in drawn]
    assert shades == sorted(shades)
    if drawn and math.log(drawn[0][0]) < math.log(drawn[-1][0]):
        assert (shades[0], shades[-1]) == (0, len(SHADES) - 1)


def test_text_can_be_read_on_every_shade() -> None:
    assert min(contrast(ground, text) for ground, text in SHADES) >= 4.5
