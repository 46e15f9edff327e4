"""The calibration's charts: one self-contained page, and the same as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from decider.files import write_text
from decider.grid import Shape
from decider.perf.calibration.calibration import Calibration, Fit, origin
from decider.perf.calibration.decision import TABLE, Decision
from decider.perf.calibration.fit import Line

WIDTH = 640


def write_plots(calibration: Calibration, folder: Path) -> list[Path]:
    """Write `calibration.html`, which needs no network, and `calibration.svg`; return their paths.

    Raises:
        ValueError: the measurement was refused: there is nothing to draw.
        OSError: a file cannot be written.
    """
    if calibration.whole is None or not calibration.medians:
        raise ValueError("nothing to draw: no line was fitted")
    cells = _cells(calibration.medians, calibration.whole.line)
    charts = [_line_chart(cells, calibration.whole), _error_chart(cells)]
    if calibration.decision:
        charts.append(_sweep_chart(calibration.decision))
    chart = alt.vconcat(*charts).resolve_scale(color="independent")
    chart = chart.properties(title=f"Calibration: {_plain(origin(calibration.measurement))}")
    page, picture = folder / "calibration.html", folder / "calibration.svg"
    write_text(page, chart.to_html(inline=True))
    write_text(picture, _svg(chart))
    return [page, picture]


def _svg(chart: Any) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def _plain(text: str) -> str:
    """A name from outside, unable to end the page's script: Vega's page does not escape it."""
    return text.replace("<", "‹").replace(">", "›")


def _data(rows: list[dict[str, Any]]) -> Any:
    return {"values": rows}


def _cells(medians: Mapping[Shape, float], line: Line) -> list[dict[str, Any]]:
    rows = []
    for shape, ms in medians.items():
        tokens = shape.batch * shape.length
        predicted = line.fixed + line.per_token * tokens
        rows.append(
            {
                "batch": shape.batch,
                "length": shape.length,
                "tokens": tokens,
                "milliseconds": ms,
                "error": predicted / ms - 1,
            }
        )
    return rows


def _line_chart(cells: list[dict[str, Any]], fit: Fit) -> Any:
    tokens = [cell["tokens"] for cell in cells]
    sizes = np.geomspace(min(tokens), max(tokens), 60).tolist()
    line, interval = fit.line, fit.interval
    curve = [
        {
            "tokens": size,
            "milliseconds": line.fixed + line.per_token * size,
            "low": line.per_token * (interval.low + size),
            "high": line.per_token * (min(interval.high, 10 * line.overhead) + size),
        }
        for size in sizes
    ]
    x = alt.X("tokens:Q", title="padded tokens of a forward, B·T").scale(type="log", nice=False)
    y = alt.Y("milliseconds:Q", title="milliseconds").scale(type="log", nice=False)
    band = alt.Chart(_data(curve)).mark_area(opacity=0.3)
    drawn = alt.Chart(_data(curve)).mark_line().encode(x, y)
    points = alt.Chart(_data(cells)).mark_point(filled=True, size=30)
    return alt.layer(
        band.encode(x, alt.Y("low:Q"), alt.Y2("high:Q")),
        drawn,
        points.encode(
            x,
            y,
            alt.Color("batch:O", title="rows B").scale(scheme="viridis"),
            tooltip=[
                "batch:Q",
                "length:Q",
                "milliseconds:Q",
                alt.Tooltip("error:Q", format="+.1%"),
            ],
        ),
    ).properties(
        width=WIDTH,
        height=320,
        title=f"Cells and the line: overhead {line.overhead:,.0f} token-units "
        f"({interval.low:,.0f} to {interval.high:,.0f}, the band)",
    )


def _error_chart(cells: list[dict[str, Any]]) -> Any:
    reach = max(0.01, *(abs(cell["error"]) for cell in cells))
    base = alt.Chart(_data(cells)).encode(
        alt.X("length:O", title="length bucket T"),
        alt.Y("batch:O", title="batch bucket B", sort="descending"),
    )
    colour = alt.Color("error:Q", title="error", legend=alt.Legend(format="+.1%")).scale(
        scheme="blueorange", domain=[-reach, reach], domainMid=0
    )
    dark = alt.expr.abs(alt.datum.error) > 0.6 * reach
    text = base.mark_text(fontSize=9).encode(
        alt.Text("error:Q", format="+.1%"),
        color=alt.condition(dark, alt.value("white"), alt.value("black")),
    )
    chart = base.mark_rect().encode(colour, tooltip=["batch:Q", "length:Q", "milliseconds:Q"])
    if len({cell["length"] for cell in cells}) <= 20:  # more would overlap
        chart = chart + text
    return chart.properties(
        width=WIDTH, height=200, title="Error of the line by cell: predicted over measured, less 1"
    )


def _sweep_chart(decision: Decision) -> Any:
    sweep = decision.sweep
    values = [
        {
            "constant": max(int(name), 8),
            "excess": sweep.of(mix).excess(name, TABLE).value,
            "mix": _plain(mix),
        }
        for mix in dict.fromkeys(stratum.mix for stratum in sweep.strata)
        for name in sweep.policies
        if name != TABLE
    ]
    marks = [{"constant": max(decision.current, 8), "which": f"current, {decision.current}"}]
    if decision.derived is not None:
        derived = {"constant": max(decision.derived, 8), "which": f"derived, {decision.derived}"}
        marks.append(derived)
    x = alt.X("constant:Q", title="overhead constant, token-units (0 drawn at 8)").scale(
        type="log", nice=False
    )
    curves = alt.Chart(_data(values)).mark_line(point=True)
    rules = alt.Chart(_data(marks)).mark_rule(strokeDash=[4, 3]).encode(x)
    labels = alt.Chart(_data(marks)).mark_text(angle=270, dy=-8, align="right")
    return alt.layer(
        curves.encode(
            x,
            alt.Y("excess:Q", title="time over the best plans'").axis(format="%"),
            alt.Color("mix:N"),
        ),
        rules,
        labels.encode(x, alt.Text("which:N"), y=alt.value(0)),
    ).properties(
        width=WIDTH,
        height=260,
        title=f"What plans of the {decision.model} cost lose by the constant",
    )
