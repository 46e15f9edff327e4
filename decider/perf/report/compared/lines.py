"""The cost model on both sides: cells, fitted lines and their intervals in one diagram."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from decider.perf.comparison.document import Document
from decider.perf.report.charts import Chart, Series, two_lines_chart
from decider.perf.report.compared.cost_facts import SIDES
from decider.perf.report.quantities import quantity

POINTS = 40


def lines_chart(document: Document) -> Chart | None:
    """The lines of the comparison; None where neither side has a cell to draw."""
    found = document["cost_model"]
    if found is None:
        return None
    records: list[Mapping[str, Any]] = []
    curves: list[Mapping[str, Any]] = []
    rows: list[tuple[str, ...]] = []
    for side in SIDES:
        line = found[side]
        drawn = _drawn(line)
        for cell, tokens in drawn:
            shape, time = f"{cell['batch']}×{cell['length']}", quantity(cell["seconds"], "seconds")
            milliseconds = 1e3 * cell["seconds"]
            records.append(
                {"tokens": tokens, "milliseconds": milliseconds, "side": side}
                | {"shape": shape, "value": time}
            )
            rows.append((side, f"{cell['batch']}", f"{cell['length']}", f"{tokens:,}", time))
        curves += _curve(side, line, [tokens for _, tokens in drawn])
    if not records:
        return None
    series = Series(records, ("side", "B", "T", "B·T", "time"), rows)
    caption = (
        "Both axes are logarithmic, so that a line is a curve; points are medians of cells. The "
        "band is the 95% interval of the overhead."
    )
    return two_lines_chart("Time against padded tokens, both sides", caption, series, curves)


def _drawn(line: Mapping[str, Any] | None) -> list[tuple[Mapping[str, Any], int]]:
    """The cells that logarithmic axes can show, with their padded tokens."""
    cells = [(cell, cell["batch"] * cell["length"]) for cell in line["cells"]] if line else []
    return [(cell, tokens) for cell, tokens in cells if tokens > 0 and cell["seconds"] > 0]


def _curve(
    side: str, line: Mapping[str, Any] | None, sizes: Sequence[int]
) -> Iterator[Mapping[str, Any]]:
    if line is None or line["overhead"] is None or not sizes:
        return
    slope = line["seconds_per_token"]
    ends = [line[end] if line[end] is not None else line["overhead"] for end in ("low", "high")]
    for tokens in np.geomspace(float(min(sizes)), float(max(sizes)), POINTS).tolist():
        time = line["fixed_seconds"] + slope * tokens
        between = [slope * (end + tokens) for end in ends]
        values = {"milliseconds": time, "low": min(between), "high": max(between)}
        if all(0 < value < math.inf for value in values.values()):
            yield {"tokens": round(tokens, 1), "side": side} | {
                name: float(f"{1e3 * value:.5g}") for name, value in values.items()
            }
