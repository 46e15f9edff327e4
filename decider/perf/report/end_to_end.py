"""What the server delivers under load: throughput against a high percentile of latency.

Reads the `end_to_end.*` benchmarks. Throughput's interval is asv's, of the rounds of one process;
a percentile is one figure of all rounds together and has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from decider.perf.report.charts import Chart, Series, load_chart
from decider.perf.report.quantities import quantity
from decider.perf.report.result_file import Cell, Result

BENCHMARKS = {
    "end_to_end.EndToEnd": "Real engine",
    "end_to_end.EndToEndVirtual": "Virtual time",
}
SECONDS = "track_seconds_per_1000_rows"
NOT_COMPARED = "Not measured: a comparison does not load the server."
PERCENTS = (99, 95, 50)
HEADERS = ("mix", "load", "policy", "side", "rows a second", "99% interval")

Key = tuple[str, str, str]
"""Mix, load, policy."""


@dataclass(frozen=True)
class EndToEnd:
    """Diagrams, or a note that says why there are none."""

    charts: tuple[Chart, ...] = ()
    note: str = ""


def end_to_end(result: Result, baseline: Result | None = None) -> EndToEnd:
    """The throughput and latency in `result`, and in `baseline` beside it."""
    sides = {"head": result} | ({"base": baseline} if baseline else {})
    charts = [
        chart
        for name, title in BENCHMARKS.items()
        for chart in _charts(name, title, _comparable(name, sides))
    ]
    if charts:
        return EndToEnd(tuple(charts))
    measured = any(result.cells_of(f"{name}.{SECONDS}") for name in BENCHMARKS)
    why = "Every load failed or was skipped." if measured else "Not measured."
    return EndToEnd(note=f"{why} It is by: asv run --bench end_to_end")


def _comparable(name: str, sides: Mapping[str, Result]) -> Mapping[str, Result]:
    """The sides that measured the same thing as the head: of the same version."""
    versions = {
        side: benchmark.version
        for side, result in sides.items()
        if (benchmark := result.benchmarks.get(f"{name}.{SECONDS}"))
    }
    return {
        side: sides[side] for side, version in versions.items() if version == versions.get("head")
    }


def _charts(name: str, title: str, sides: Mapping[str, Result]) -> list[Chart]:
    percent = _percent(name, sides)
    mixes = dict.fromkeys(
        cell.parameter("mix")
        for result in sides.values()
        for cell in result.cells_of(f"{name}.{SECONDS}")
    )
    charts = []
    for mix in mixes:
        series = _series(name, sides, mix, percent)
        if series.records:
            caption = (
                "To the right is more throughput, below is less waiting. Level lines are the 99% "
                "interval of throughput in one process; a percentile has none."
            )
            latency = f"p{percent} latency"
            charts.append(load_chart(f"{title}, mix {mix}", caption, series, latency))
    return charts


def _percent(name: str, sides: Mapping[str, Result]) -> int:
    """The highest percentile that anything was measured of: few rows cannot bound a high one."""
    for percent in PERCENTS:
        if any(_of(result, f"{name}.track_p{percent}_latency") for result in sides.values()):
            return percent
    return PERCENTS[-1]


def _of(result: Result, name: str) -> dict[Key, Cell]:
    return {
        (cell.parameter("mix"), cell.parameter("load"), cell.parameter("policy")): cell
        for cell in result.cells_of(name)
        if 0 < cell.value < math.inf
    }


def _series(name: str, sides: Mapping[str, Result], mix: str, percent: int) -> Series:
    records, rows = [], []
    for side in sorted(sides):
        waits = {p: _of(sides[side], f"{name}.track_p{p}_latency") for p in PERCENTS}
        for key, cell in _of(sides[side], f"{name}.{SECONDS}").items():
            if key[0] != mix:
                continue
            rate, (low, high) = 1e3 / cell.value, _rates(cell)
            texts = [_latency(waits[p].get(key)) for p in PERCENTS]
            exact = cell.is_exact
            between = "exact" if exact else f"{quantity(low, '')} to {quantity(high, '')}"
            known = between if exact or cell.interval else "not known"
            rows.append((*key, side, quantity(rate, ""), known, *texts))
            if key in waits[percent]:
                value = f"{quantity(rate, '')} rows a second, p{percent} "
                value += texts[PERCENTS.index(percent)]
                records.append(
                    {"rows": rate, "low": low, "high": high, "seconds": waits[percent][key].value}
                    | {"policy": key[2], "load": key[1], "side": side, "value": value}
                )
    return Series(records, (*HEADERS, *(f"p{p}" for p in PERCENTS)), rows)


def _rates(cell: Cell) -> Sequence[float]:
    """Lowest and highest throughput of the interval; the throughput itself where it has none."""
    ends = cell.interval if cell.interval and min(cell.interval) > 0 else (cell.value, cell.value)
    return sorted(1e3 / end for end in ends)


def _latency(cell: Cell | None) -> str:
    return "too few rows" if cell is None else quantity(cell.value, "seconds")
