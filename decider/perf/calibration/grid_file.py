"""Cells in a grid file, as `python -m benchmarks.forward --out grid.json` writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from decider.grid import BucketGrid, Shape
from decider.perf.calibration.measurement import Measurement, Run, measurement

SCHEMA = "decider.grid/1"


def read_grid_file(path: Path) -> Measurement:
    """The measurement in a grid file.

    Raises:
        ValueError: the file is no JSON, of another schema, or a field is missing or malformed; the
            message names the file and the field.
        OSError: the file cannot be read.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: no JSON: {error}") from None
    if not isinstance(values, Mapping) or values.get("schema") != SCHEMA:
        found = values.get("schema") if isinstance(values, Mapping) else type(values).__name__
        raise ValueError(f"{path}: not a grid of schema {SCHEMA!r}: found {found!r}")
    try:
        grid, blocks = BucketGrid.from_dict(values["grid"]), _cells(values["cells"])
    except KeyError as error:
        raise ValueError(f"{path}: field {error} is missing") from None
    except (TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: malformed grid file: {error}") from None
    timing = values.get("timing") or {}
    environment = dict(values.get("environment") or {})
    environment |= {name: values[name] for name in ("model", "profile") if values.get(name)}
    if "minimum_seconds" in timing:
        environment["minimum_seconds"] = timing["minimum_seconds"]
    return measurement(
        blocks,
        str(path),
        grid=grid,
        environment=environment,
        complete=bool(values.get("complete", False)),
        queueing=timing.get("queueing"),
    )


def _cells(values: Iterable[Mapping[str, Any]]) -> dict[Shape, Run]:
    cells: dict[Shape, Run] = {}
    for cell in values:
        shape = Shape(cell["batch"], cell["length"])
        if not all(type(axis) is int and axis >= 1 for axis in shape):
            raise ValueError(f"cell {tuple(shape)}: batch and length must be whole and at least 1")
        if shape in cells:
            raise ValueError(f"cell {tuple(shape)} stands twice")
        cells[shape] = _blocks(cell)
    return cells


def _blocks(cell: Mapping[str, Any]) -> Run:
    """The blocks of a cell; its median where the file was written without samples."""
    if cell.get("blocks"):
        return tuple(tuple(float(ms) for ms in block) for block in cell["blocks"])
    return ((float(cell["milliseconds"]),),)
