"""The page of one benchmark on one machine: every cell of it over the commits.

The values of all cells stand in the page as JSON, as short as they can be written; its script draws
and tabulates the one that is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from decider.perf.history.results_history import BenchmarkHistory, CellHistory, Facts
from decider.perf.report.quantities import exact, quantity
from decider.perf.site.changes import CellChange
from decider.perf.site.chart import history_chart
from decider.perf.site.names import fingerprint, page_name
from decider.perf.site.rendering import render_page

FOLDER = "benchmarks"
VALUE_DIGITS = 4
"""Of a noisy value: more than any of them is known to."""

_SCALES = {
    "seconds": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bytes": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")),
}


@dataclass(frozen=True)
class CellLine:
    """A cell's line in the table of the page."""

    anchor: str
    label: str
    value: str
    commit: str
    changes: int
    last_change: str


def benchmark_address(machine: str, benchmark: str) -> str:
    """Where the page is, from the site's folder."""
    return f"{FOLDER}/{page_name(machine, benchmark)}"


def cell_anchor(label: str) -> str:
    """How an address asks the page for a cell, after `#`."""
    return f"cell-{fingerprint(label)}"


def benchmark_page(history: BenchmarkHistory, changes: Mapping[str, Sequence[CellChange]]) -> str:
    """The text of the page.

    Args:
        history: the benchmark's cells over its commits.
        changes: of each cell that has any.
    """
    # Cells that changed for the worse first, the latest change first of all.
    cells = sorted(history.cells, key=lambda cell: _urgency(changes.get(cell.label, ())))
    data = {
        "commits": [[commit.hash, f"{commit.committed:%Y-%m-%d}"] for commit in history.commits],
        "cells": [_cell_data(cell, changes.get(cell.label, ())) for cell in cells],
    }
    return render_page(
        "benchmark.html",
        "../",
        history=history,
        lines=[_line(history, cell, changes.get(cell.label, ())) for cell in cells],
        environments=environment_texts(history.environments),
        data=data,
        specification=history_chart(len(history.environments)),
        is_exact=any(cell.newest.is_exact for cell in cells),
    )


def environment_texts(environments: Sequence[Facts]) -> list[str]:
    """What each environment is, by the facts in which they differ; one alone needs no telling."""
    facts = [dict(environment) for environment in environments]
    names = sorted({name for fact in facts for name in fact})
    differing = [name for name in names if len({fact.get(name) for fact in facts}) > 1]
    return [
        ", ".join(f"{name} {fact.get(name, 'not recorded')}" for name in differing)
        or "the same throughout"
        for fact in facts
    ]


def _urgency(changes: Sequence[CellChange]) -> tuple[bool, bool, int]:
    last = changes[-1] if changes else None
    return last is None, last is not None and not last.worse, -(last.number if last else 0)


def _line(history: BenchmarkHistory, cell: CellHistory, changes: Sequence[CellChange]) -> CellLine:
    newest = cell.newest
    value = quantity(newest.value, newest.unit) if newest.status == "measured" else newest.status
    if newest.is_exact and newest.status == "measured":
        value = exact(newest.value)
    last = changes[-1] if changes else None
    said = "none"
    if last:
        said = f"{last.kind}, {last.word} {last.size}, {last.commit.hash[:8]}, {last.standing}"
    return CellLine(
        cell_anchor(cell.label),
        cell.label or "the whole benchmark",
        value,
        history.commits[cell.newest_commit].hash[:8],
        len(changes),
        said,
    )


def _cell_data(cell: CellHistory, changes: Sequence[CellChange]) -> dict[str, Any]:
    """A cell's values in the unit that fits them, each as short as it can be."""
    values = [value for stretch in cell.stretches for value in stretch.values]
    factor, unit = _scale([value for value in values if math.isfinite(value)], cell.newest.unit)
    digits = 12 if cell.newest.is_exact else VALUE_DIGITS
    return {
        "unit": unit,
        "stretches": [
            [
                stretch.environment,
                stretch.version[:12],
                stretch.first,
                [_short(value / factor, digits) for value in stretch.values],
            ]
            for stretch in cell.stretches
        ],
        "changes": [
            [
                *(change.after, change.number, change.kind),
                *(change.word, change.size, change.standing),
            ]
            for change in changes
        ],
    }


def _scale(values: Sequence[float], unit: str) -> tuple[float, str]:
    scales = _SCALES.get(unit)
    if not scales or not values:
        return 1.0, unit
    middle = abs(median(values))
    return next((scale for scale in scales if middle >= scale[0]), scales[-1])


def _short(value: float, digits: int) -> float | int | None:
    """A number that JSON writes in few characters; None, JSON's null, where there is none."""
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
