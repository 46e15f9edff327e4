"""Cells in a plain CSV table: a user's own measurements.

`rows,length,milliseconds` names shapes; `num_tokens,milliseconds` (or `median_ms`) is a ladder of
single rows. Lines that repeat a shape are its samples, in order, each a block of its own.
"""

from __future__ import annotations

import csv
from pathlib import Path

from decider.grid import Shape
from decider.perf.calibration.measurement import Measurement, measurement

TIME_COLUMNS = ("milliseconds", "median_ms")
SHAPE_COLUMNS = ("rows", "length")
TOKEN_COLUMN = "num_tokens"  # noqa: S105 - a column, no secret
WAYS_OUT = "expected columns rows,length,milliseconds or num_tokens,milliseconds"


def read_table(path: Path) -> Measurement:
    """The measurement in a CSV file.

    Times that are not finite and above 0 are kept: calibrating refuses them and says which.

    Raises:
        ValueError: the file has other columns, no rows, or a value that is no number; the message
            names file, line and value.
        OSError: the file cannot be read.
    """
    samples: dict[Shape, list[float]] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, skipinitialspace=True)
        columns = reader.fieldnames or []
        times = [name for name in TIME_COLUMNS if name in columns]
        if len(times) != 1 or not (TOKEN_COLUMN in columns or set(SHAPE_COLUMNS) <= set(columns)):
            raise ValueError(f"{path}: {WAYS_OUT}, found {','.join(columns) or 'an empty file'}")
        for line in reader:
            where = f"{path}, line {reader.line_num}"
            shape = _shape(line, where)
            samples.setdefault(shape, []).append(_number(line, times[0], where))
    if not samples:
        raise ValueError(f"{path}: no rows below the header")
    return measurement(
        {shape: tuple((value,) for value in values) for shape, values in samples.items()},
        str(path),
        environment={"file": path.name},
    )


def _shape(line: dict[str, str], where: str) -> Shape:
    if set(SHAPE_COLUMNS) <= set(line):
        return Shape(_whole(line, "rows", where), _whole(line, "length", where))
    return Shape(1, _whole(line, TOKEN_COLUMN, where))


def _whole(line: dict[str, str], column: str, where: str) -> int:
    value = _number(line, column, where)
    if not value.is_integer() or value < 1:
        raise ValueError(f"{where}: {column} must be a whole number of at least 1, not {value!r}")
    return int(value)


def _number(line: dict[str, str], column: str, where: str) -> float:
    text = line[column]
    try:
        return float(text)
    except (TypeError, ValueError):
        raise ValueError(f"{where}: {column} is no number: {text!r}") from None
