"""The cost model: time against B*T with the line that the calibration fits.

The statistics are `decider.perf.calibration`'s, which also says when they prove nothing. No plans
are priced here: `decider calibrate` does that, and judges the constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from decider.grid import Shape
from decider.perf.calibration.calibration import Calibration, Fit, calibrate
from decider.perf.calibration.fit import LEVEL, Line
from decider.perf.calibration.sources import read_source
from decider.perf.report.charts import Chart, Series, line_chart
from decider.perf.report.quantities import counted, quantity

POINTS = 60


@dataclass(frozen=True)
class CostLine:
    """What the fit says as sentences, its reservations, and its diagram if there is a line."""

    facts: tuple[str, ...] = ()
    reservations: tuple[str, ...] = ()
    chart: Chart | None = None


def cost_line(path: Path) -> CostLine:
    """The line through the forwards in an asv result or a grid file.

    Where there is none, the reservations say why.
    """
    try:
        found = calibrate(read_source(path), ())
    except ValueError as error:
        return CostLine(reservations=(str(error),))
    reservations = tuple(f"{refusal.message}: {refusal.cure}" for refusal in found.refusals)
    if found.whole is None or not found.medians:
        return CostLine(reservations=reservations)
    chart = _chart(found.medians, found.whole.line)
    return CostLine(tuple(_facts(found, found.whole)), reservations + found.notes, chart)


def _facts(found: Calibration, fit: Fit) -> list[str]:
    interval, line = fit.interval, fit.line
    facts = [
        f"Overhead {line.overhead:,.0f} token-units, {LEVEL:.0%} interval {interval.low:,.0f} to "
        f"{interval.high:,.0f}, from {counted(interval.count, interval.unit)}"
        + (" a cell" if interval.unit == "block" else ""),
        f"A forward takes {quantity(line.fixed / 1000, 'seconds')}, and "
        f"{quantity(line.per_token / 1000, 'seconds')} more for each padded token",
    ]
    if found.goodness:
        shape, error = found.goodness.worst_shape, found.goodness.worst_error
        facts.append(
            f"The line is farthest off at B {shape.batch}, T {shape.length}: {error:+.1%}; it is "
            + ("" if found.goodness.misfit else "not shown to be ")
            + "wrong by more than the samples' spread"
        )
    return facts


def _chart(medians: Mapping[Shape, float], line: Line) -> Chart:
    records, rows = [], []
    for shape, milliseconds in medians.items():
        tokens = shape.batch * shape.length
        error = (line.fixed + line.per_token * tokens) / milliseconds - 1
        value = quantity(milliseconds / 1000, "seconds")
        records.append(
            {
                "tokens": tokens,
                "milliseconds": milliseconds,
                "batch": str(shape.batch),
                "value": value,
                "shape": f"{shape.batch}×{shape.length}",
                "error": f"line {error:+.1%}",
            }
        )
        rows.append((str(shape.batch), str(shape.length), f"{tokens:,}", value, f"{error:+.1%}"))
    sizes = [shape.batch * shape.length for shape in medians]
    curve = [
        {"tokens": size, "milliseconds": line.fixed + line.per_token * size}
        for size in np.geomspace(min(sizes), max(sizes), POINTS).tolist()
    ]
    headers = ("B", "T", "B·T", "time", "line's error")
    caption = "Both axes are logarithmic, so that the line is a curve; points are medians of cells."
    return line_chart("Time against padded tokens", caption, Series(records, headers, rows), curve)
