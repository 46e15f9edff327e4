"""What is shown of the planner: its plans' exact figures and the time it takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from decider.perf.report.charts import Chart, Series, ledger_chart, planning_chart, textbook_chart
from decider.perf.report.heat_maps import Entry, HeatMap, details, heat_map
from decider.perf.report.quantities import exact, quantity
from decider.perf.report.result_file import Cell, Result

PLAN_COST = "plans.Plans.track_cost_over_per_bucket"
TRACE_PLAN_COST = "plans.TracePlans.track_cost_over_per_bucket"
PLANNING = "planner.Planning.time_plan"
OVER_TEXTBOOK = "planner.PlanningRatio.track_over_textbook"

REAL_TOKENS = "real tokens"
WASTE = {
    "length rounding": "plans.Plans.track_length_rounding",
    "co-batch padding": "plans.Plans.track_co_batch_padding",
    "empty rows": "plans.Plans.track_empty_rows",
    "overhead": "plans.Plans.track_overhead",
}


@dataclass(frozen=True)
class PlanFigures:
    """Costs of plans over per-bucket grouping, and where the cost goes, a diagram a cost model."""

    costs: tuple[HeatMap, ...]
    ledgers: tuple[Chart, ...]


def plan_figures(result: Result) -> PlanFigures:
    """The exact figures of the plans in `result`; empty where it holds none."""
    costs = [
        heat_map(f"Planned with the {model} cost", "mix", "rows", _entries(cells, "mix", "rows"))
        for model, cells in _by_parameter(result.cells_of(PLAN_COST), "cost").items()
    ]
    if traces := [c for c in result.cells_of(TRACE_PLAN_COST) if c.status != "skipped"]:
        costs.append(heat_map("Real traces", "trace", "cost", _entries(traces, "trace", "cost")))
    models = _by_parameter(result.cells_of(WASTE["overhead"]), "cost")
    ledgers = [_ledger(result, model) for model in models]
    return PlanFigures(tuple(costs), tuple(chart for chart in ledgers if chart))


def planning_charts(result: Result) -> list[Chart]:
    """The planner's time against rows for each cost model, and its ratio to the textbook."""
    charts = [
        planning_chart(f"Time of planning, {model} cost", series)
        for model, cells in _by_parameter(result.cells_of(PLANNING), "cost").items()
        if (series := _planning(cells)).records
    ]
    if (series := _over_textbook(result.cells_of(OVER_TEXTBOOK))).records:
        charts.append(textbook_chart("The planner against the textbook program", series))
    return charts


def _by_parameter(cells: Sequence[Cell], name: str) -> dict[str, list[Cell]]:
    """The cells by the value of a parameter, in the order they come in."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.parameter(name), []).append(cell)
    return groups


def _entries(cells: Sequence[Cell], row: str, column: str) -> list[Entry]:
    return [
        Entry(c.parameter(row), c.parameter(column), c.status, c.value, c.unit, _detail(c))
        for c in cells
    ]


def _detail(cell: Cell) -> str:
    return exact(cell.value) if cell.status == "measured" else ""


def _ledger(result: Result, model: str) -> Chart | None:
    """The stacked bars of one cost model; only of queues whose every part was measured."""
    parts = {
        part: {
            (cell.parameter("mix"), cell.parameter("rows")): cell.value
            for cell in result.cells_of(name)
            if cell.parameter("cost") == model and math.isfinite(cell.value)
        }
        for part, name in WASTE.items()
    }
    queues = [queue for queue in parts["overhead"] if all(queue in parts[part] for part in parts)]
    if not queues:
        return None
    records: list[Mapping[str, object]] = []
    rows = []
    for mix, size in queues:
        # The figures are per real token, so the real tokens themselves are 1 of it.
        ledger = {REAL_TOKENS: 1.0} | {part: parts[part][mix, size] for part in parts}
        queue = f"{mix}, {size} rows"
        records += ledger_records(queue, ledger)
        rows.append((mix, size, *ledger_row(ledger)))
    headers = ("mix", "rows", REAL_TOKENS, *WASTE, "cost")
    series = Series(records, headers, rows)
    return ledger_chart(f"Planned with the {model} cost", series, (REAL_TOKENS, *WASTE))


def ledger_records(queue: str, ledger: Mapping[str, float]) -> list[Mapping[str, object]]:
    """What `ledger_chart` draws of one queue, whose parts are in token-units a real token."""
    return [
        {
            "queue": queue,
            "part": part,
            "order": order,
            "tokens": float(f"{value:.5g}"),
            "value": quantity(value, "ratio"),
        }
        for order, (part, value) in enumerate(ledger.items())
    ]


def ledger_row(ledger: Mapping[str, float]) -> tuple[str, ...]:
    """The parts and their sum for the table."""
    return tuple(quantity(value, "ratio") for value in (*ledger.values(), sum(ledger.values())))


def _planning(cells: Sequence[Cell]) -> Series:
    records, rows = [], []
    for cell in _drawn(cells):
        value = quantity(cell.value, "seconds")
        mix, size = cell.parameter("mix"), cell.parameter("rows")
        records.append({"mix": mix, "rows": int(size), "seconds": cell.value, "value": value})
        rows.append((mix, size, value, details(cell)))
    return Series(records, ("mix", "rows", "time of a plan", "measured by"), rows)


def _over_textbook(cells: Sequence[Cell]) -> Series:
    records, rows = [], []
    for cell in _drawn(cells):
        samples = [sample for sample in cell.samples if math.isfinite(sample)] or [cell.value]
        low, high = min(samples), max(samples)
        value = quantity(cell.value, "ratio")
        size = cell.parameter("rows")
        records.append(
            {"rows": int(size), "ratio": cell.value, "low": low, "high": high, "value": value}
        )
        spread = f"{quantity(low, 'ratio')} to {quantity(high, 'ratio')}"
        rows.append((size, value, spread))
    return Series(records, ("rows", "ratio", "lowest to highest sample"), rows)


def _drawn(cells: Sequence[Cell]) -> list[Cell]:
    """The cells that a logarithmic axis of rows can show."""
    return [
        cell
        for cell in cells
        if 0 < cell.value < math.inf
        and cell.parameter("rows").isdecimal()
        and int(cell.parameter("rows")) > 0
    ]
