"""The page's diagrams as Vega-Lite specifications, each with the table of its values.

Text and axes take the page's own colour, so that a diagram follows day, night and print by itself;
the colours of marks are readable on both grounds, and a series has a shape of its own besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

COLOURS = ("#2f80d8", "#cf5a1c", "#1f9455", "#a95cc6", "#c0487a", "#8a7a1e", "#5a7f8f")
"""Of series and of stacked parts: at least 3:1 against both grounds of the page."""

BAR_PIXELS = 15
_TEXT = {"labelColor": "currentColor", "titleColor": "currentColor"}
CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        **_TEXT,
        "domainColor": "currentColor",
        "tickColor": "currentColor",
        "gridColor": "currentColor",
        "gridOpacity": 0.15,
    },
    "legend": {**_TEXT, "orient": "bottom", "columns": 3, "symbolStrokeWidth": 2},
    "range": {"category": list(COLOURS)},
}


@dataclass(frozen=True)
class Chart:
    """A diagram: its title, what it shows in a sentence, its specification and its values."""

    title: str
    caption: str
    specification: Mapping[str, Any]
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Series:
    """What a diagram draws: records of plain values, and the same as texts for the table."""

    records: Sequence[Mapping[str, Any]]
    headers: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def planning_chart(title: str, series: Series) -> Chart:
    """Seconds of planning against rows, a line a mix. Records: rows, seconds, mix, value."""
    # One domain for both, or Vega-Lite draws a legend for each of them.
    mixes = list(dict.fromkeys(record["mix"] for record in series.records))
    chart = (
        alt.Chart(_inline(series.records))
        .mark_line(point=alt.OverlayMarkDef(size=50, filled=True))
        .encode(
            _rows_axis(series),
            alt.Y("seconds:Q", title="time of a plan")
            .scale(type="log", nice=False)
            .axis(labelExpr="format(datum.value, '~s') + 's'", tickCount=4),
            alt.Color("mix:N", title=None).scale(domain=mixes),
            alt.Shape("mix:N", title=None).scale(domain=mixes),
            tooltip=["mix:N", "rows:Q", "value:N"],
        )
        .properties(width="container", height=260)
    )
    caption = "Both axes are logarithmic; a line a mix."
    return _chart(title, caption, chart, series)


def textbook_chart(title: str, series: Series) -> Chart:
    """Planner over textbook against rows. Records: rows, ratio, low, high, value."""
    base = alt.Chart(_inline(series.records)).encode(_rows_axis(series))
    axis_title = "planner's time over textbook's"
    ratio = alt.Y("ratio:Q", title=axis_title)
    spread = base.mark_rule(color=COLOURS[0]).encode(alt.Y("low:Q"), alt.Y2("high:Q"))
    line = base.mark_line(color=COLOURS[0], point=alt.OverlayMarkDef(size=50, color=COLOURS[0]))
    one = alt.Chart(_inline([{"one": 1}])).mark_rule(strokeDash=[5, 4], stroke="gray")
    chart = alt.layer(
        one.encode(alt.Y("one:Q", title=axis_title)),
        spread,
        line.encode(ratio, tooltip=["rows:Q", "value:N"]),
    ).properties(width="container", height=240)
    caption = (
        "Below the dashed line at 1 the planner is the faster one. Upright lines span all samples."
    )
    return _chart(title, caption, chart, series)


def ledger_chart(title: str, series: Series, parts: Sequence[str]) -> Chart:
    """The waste ledger as stacked bars, one a queue. Records: queue, part, order, tokens, value."""
    chart = (
        alt.Chart(_inline(series.records))
        .mark_bar(stroke="white", strokeWidth=0.6)
        .encode(
            alt.Y("queue:N", title=None, sort=None),
            alt.X("sum(tokens):Q", title="token-units a real token"),
            alt.Color("part:N", title=None, legend=alt.Legend(columns=2)).scale(
                domain=list(parts), range=[COLOURS[6], *COLOURS[:4]]
            ),
            alt.Order("order:Q"),
            tooltip=["queue:N", "part:N", "value:N"],
        )
        .properties(width="container", height=BAR_PIXELS * len(series.rows))
    )
    caption = "The parts stand in the order of the legend and add up to the plan's cost."
    return _chart(title, caption, chart, series)


def line_chart(
    title: str, caption: str, series: Series, curve: Sequence[Mapping[str, Any]]
) -> Chart:
    """Cells and the fitted line. Records: tokens, milliseconds, batch, value, shape, error; of the
    curve: tokens, milliseconds."""
    x = alt.X("tokens:Q", title="padded tokens of a forward, B·T").scale(type="log", nice=False)
    y = alt.Y("milliseconds:Q", title="milliseconds").scale(type="log", nice=False)
    line = alt.Chart(_inline(curve)).mark_line(color=COLOURS[1], strokeWidth=2)
    points = alt.Chart(_inline(series.records)).mark_point(size=40, filled=True)
    chart = alt.layer(
        line.encode(x, y),
        points.encode(
            x,
            y,
            alt.Color("batch:N", title="rows B", sort=None),
            alt.Shape("batch:N", title="rows B", sort=None),
            tooltip=["shape:N", "value:N", "error:N"],
        ),
    ).properties(width="container", height=320)
    return _chart(title, caption, chart, series)


def two_lines_chart(
    title: str, caption: str, series: Series, curves: Sequence[Mapping[str, Any]]
) -> Chart:
    """Cells and fitted lines of two sides. Records: tokens, milliseconds, side, shape, value; of
    the curves: tokens, milliseconds, low, high, side."""
    x = alt.X("tokens:Q", title="padded tokens of a forward, B·T").scale(type="log", nice=False)
    y = alt.Y("milliseconds:Q", title="milliseconds").scale(type="log", nice=False)
    domain = ["base", "head"]
    legend = alt.Legend(symbolOpacity=1, symbolSize=90)  # or it is as pale as the band
    colour = alt.Color("side:N", title=None, legend=legend)
    colour = colour.scale(domain=domain, range=list(COLOURS[:2]))
    dashes = alt.StrokeDash("side:N", title=None).scale(domain=domain, range=[[5, 4], [1, 0]])
    shape = alt.Shape("side:N", title=None).scale(domain=domain, range=["square", "circle"])
    lines = alt.Chart(_inline(curves))
    points = alt.Chart(_inline(series.records)).mark_point(size=45, filled=True, opacity=0.9)
    chart = alt.layer(
        lines.mark_area(opacity=0.18).encode(
            x, alt.Y("low:Q", title="milliseconds"), alt.Y2("high:Q"), colour
        ),
        lines.mark_line(strokeWidth=2).encode(x, y, colour, dashes),
        points.encode(x, y, colour, shape, tooltip=["side:N", "shape:N", "value:N"]),
    ).properties(width="container", height=320)
    return _chart(title, caption, chart, series)


def load_chart(title: str, caption: str, series: Series, latency: str) -> Chart:
    """Latency against throughput. Records: rows, low, high, seconds, policy, load, side, value."""
    y = alt.Y("seconds:Q", title=latency).scale(zero=False)
    y = y.axis(labelExpr="format(datum.value, '~s') + 's'", tickCount=5)
    axis_title = "rows a second"
    policies = list(dict.fromkeys(record["policy"] for record in series.records))
    base = alt.Chart(_inline(series.records))
    colour = alt.Color("policy:N", title=None).scale(domain=policies)
    shape = alt.Shape("side:N", title=None).scale(
        domain=["base", "head"], range=["square", "circle"]
    )
    spread = base.mark_rule(strokeWidth=1.5).encode(
        alt.X("low:Q", title=axis_title), alt.X2("high:Q"), y, colour
    )
    points = base.mark_point(size=60, filled=True, opacity=0.9).encode(
        alt.X("rows:Q", title=axis_title).scale(zero=False),
        y,
        colour,
        shape,
        tooltip=["load:N", "policy:N", "side:N", "value:N"],
    )
    labels = base.mark_text(align="left", dx=7, dy=-6, fill="currentColor", fontSize=10).encode(
        alt.X("rows:Q", title=axis_title), y, alt.Text("load:N")
    )
    chart = alt.layer(spread, points, labels).properties(width="container", height=280)
    return _chart(title, caption, chart, series)


def history_chart(
    title: str, caption: str, series: Series, steps: Sequence[Mapping[str, Any]]
) -> Chart:
    """A value over commits. Records: number, commit, value; of the steps: number, label."""
    x = alt.X("number:Q", title="commits, oldest first").axis(format="d", grid=False)
    x = x.scale(nice=False)
    y = alt.Y("value:Q", title=None).scale(zero=False).axis(format="~s", tickCount=4)
    line = alt.Chart(_inline(series.records))
    layers: list[Any] = [
        line.mark_line(color=COLOURS[0], strokeWidth=1.5).encode(x, y),
        line.mark_point(color=COLOURS[0], size=18, filled=True).encode(
            x, y, tooltip=["commit:N", "value:Q"]
        ),
    ]
    if steps:  # Vega warns of a layer without data
        marks = alt.Chart(_inline(steps)).encode(x)
        labels = marks.mark_text(dy=-4, align="left", dx=3, baseline="bottom", fill="currentColor")
        rules = marks.mark_rule(color=COLOURS[1], strokeDash=[4, 3], strokeWidth=1.5)
        layers += [
            rules.encode(tooltip=["label:N"]),
            labels.encode(alt.Text("label:N"), y=alt.value(0)),
        ]
    chart = alt.layer(*layers).properties(width="container", height=180)
    return _chart(title, caption, chart, series)


def _inline(records: Sequence[Mapping[str, Any]]) -> Any:
    return {"values": [dict(record) for record in records]}


def _rows_axis(series: Series) -> Any:
    ticks = sorted({record["rows"] for record in series.records})
    return (
        alt.X("rows:Q", title="rows waiting")
        .scale(type="log", nice=False)
        .axis(values=ticks, format=",", grid=False)
    )


def _chart(title: str, caption: str, chart: Any, series: Series) -> Chart:
    specification = {**chart.to_dict(), "config": CONFIG}
    return Chart(title, caption, specification, series.headers, tuple(series.rows))
