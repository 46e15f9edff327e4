"""Measured forwards over the grid: heat maps of their time, and what a token costs in them.

From asv's results or from a grid file. A token's time in every cell is known where the whole cell
is; of real tokens asv holds one figure for the whole grid, a grid file every cell.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decider.perf.calibration.grid_file import read_grid_file
from decider.perf.report.heat_maps import MOST_DETAILED, Entry, HeatMap, details, heat_map
from decider.perf.report.quantities import counted, quantity
from decider.perf.report.result_file import Cell, Result

SECONDS = "forward.Forward.track_seconds"
PER_REAL = "forward.Forward.track_microseconds_per_real_token"
ROWS, LENGTH = "B", "T"
MEASURED_ON = ("commit", "machine", "cpu", "gpu", "torch", "model", "profile", "time")


@dataclass(frozen=True)
class Forwards:
    """The heat maps of one source; a `note` that says what is blank, or why there is nothing."""

    title: str
    note: str
    maps: tuple[HeatMap, ...] = ()


def forwards_of_result(result: Result) -> Forwards:
    """The forwards that asv measured."""
    title = "Measured by asv"
    cells = result.cells_of(SECONDS)
    if not cells:
        return Forwards(title, "This result holds no forwards.")
    if not any(cell.status == "measured" for cell in cells):
        return Forwards(title, f"No forward was measured: {_counts(cells)}.")
    blank = "Blank cells were skipped, as shapes over the token budget are: they are not captured."
    if len(cells) > MOST_DETAILED:
        blank += " Intervals and samples are told in the table of all cells."
    maps = [
        heat_map("Time of a forward", ROWS, LENGTH, _times(cells)),
        heat_map("Microseconds per padded token", ROWS, LENGTH, [_padded(cell) for cell in cells]),
    ]
    for cell in result.cells_of(PER_REAL):
        if cell.status == "measured":
            value = quantity(cell.value, "microseconds")
            blank += (
                f" Over the whole grid a real token takes {value}; a grid file tells each cell."
            )
    return Forwards(title, blank, tuple(maps))


def forwards_of_grid_file(path: Path) -> Forwards:
    """The forwards in a grid file.

    Raises:
        ValueError: it is no grid file, or a cell of it is malformed; the message names the file.
        OSError: the file cannot be read.
    """
    measurement = read_grid_file(path)
    cells: list[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    missing = [
        Entry(str(shape.batch), str(shape.length), "absent", math.nan, "")
        for shape in measurement.missing
    ]
    maps = []
    for title, name, unit, scale in (
        ("Time of a forward", "milliseconds", "seconds", 1e-3),
        *(
            (f"Microseconds per {kind} token", f"microseconds_per_{kind}_token", "microseconds", 1)
            for kind in ("padded", "real")
        ),
    ):
        entries = [_grid_entry(path, cell, name, unit, scale) for cell in cells if name in cell]
        if entries:
            maps.append(heat_map(title, ROWS, LENGTH, [*entries, *missing]))
    measured_on = measurement.describe(*MEASURED_ON) or "nothing that the file tells"
    state = "" if measurement.complete else " It is of a run that did not end."
    note = f"Measured on {measured_on}.{state} Blank shapes are not captured."
    return Forwards(f"Grid file {path.name}", note, tuple(maps))


def _counts(cells: Sequence[Cell]) -> str:
    statuses = [cell.status for cell in cells]
    return ", ".join(
        f"{counted(statuses.count(status), 'cell')} {status}"
        for status in ("failed", "skipped")
        if status in statuses
    )


def _times(cells: Sequence[Cell]) -> list[Entry]:
    detailed = len(cells) <= MOST_DETAILED
    return [_time(cell, details(cell) if detailed else "") for cell in cells]


def _time(cell: Cell, detail: str) -> Entry:
    batch, length = cell.parameter("batch"), cell.parameter("length")
    return Entry(batch, length, cell.status, cell.value, cell.unit or "seconds", detail)


def _padded(cell: Cell) -> Entry:
    batch, length = cell.parameter("batch"), cell.parameter("length")
    tokens = int(batch) * int(length) if batch.isdecimal() and length.isdecimal() else 0
    value = 1e6 * cell.value / tokens if tokens else math.nan
    return Entry(batch, length, cell.status, value, "microseconds")


def _grid_entry(path: Path, cell: Mapping[str, Any], name: str, unit: str, scale: float) -> Entry:
    value = cell[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        where = f"cell ({cell['batch']}, {cell['length']})"
        raise ValueError(f"{path}: {where}: {name} {value!r} is no number")
    detail = counted(len(cell.get("blocks") or []), "block")
    return Entry(str(cell["batch"]), str(cell["length"]), "measured", scale * value, unit, detail)
