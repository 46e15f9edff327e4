"""One asv result file: its benchmarks, their cells, and what they were measured on.

Reads every benchmark alike and knows none by name. asv itself is not needed. Its files hold a bare
NaN for a skipped cell, which Python reads and strict readers do not.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

import orjson

Status = Literal["measured", "failed", "skipped", "absent"]
"""Absent is no status of asv's: it is said of a cell that the other side of a comparison lacks."""

EXACT = ("plans.", "end_to_end.EndToEndVirtual.")
"""Beginnings of the names of benchmarks whose figures are exact: the same input gives the same
number on any machine. Everything else is noisy."""

NOT_FINITE = {b"NaN": b"nan", b"-Infinity": b"-inf", b"Infinity": b"inf"}
"""What asv writes of numbers that JSON does not have, and their names as texts; NaN most often."""

MOST_CELLS = 100_000
"""Cells of one benchmark; more are a damaged file."""


@dataclass(frozen=True)
class Cell:
    """One benchmark at one combination of its parameters.

    Attributes:
        benchmark: its full name.
        parameters: name and value, in the benchmark's order; empty for one without parameters.
        status: a cell is failed when asv has no value, skipped when the benchmark said so.
        value: median of the samples, or the one value, in `unit`; NaN unless measured.
        unit: as the benchmark declares it; empty where nobody says.
        interval: asv's 99% interval of the median within this run, or None.
        samples: as recorded; empty without `asv run --record-samples`.
    """

    benchmark: str
    parameters: tuple[tuple[str, str], ...]
    status: Status
    value: float = math.nan
    unit: str = ""
    interval: tuple[float, float] | None = None
    samples: tuple[float, ...] = ()

    def parameter(self, name: str) -> str:
        """The value of the parameter `name`; empty where the benchmark has no such parameter."""
        return dict(self.parameters).get(name, "")

    @property
    def label(self) -> str:
        """The parameters for people: `mix short, rows 8`."""
        return ", ".join(f"{name} {value}" for name, value in self.parameters)

    @property
    def is_exact(self) -> bool:
        """Whether the figure is exact, so that any difference is a change."""
        return self.benchmark.startswith(EXACT)


@dataclass(frozen=True)
class Benchmark:
    """A benchmark's cells in the order of its parameters; `version` as it declares it."""

    name: str
    version: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Result:
    """What one asv result file holds.

    Attributes:
        path: the file.
        machine, commit: the machine's name and the commit's full hash.
        committed: when the commit was made.
        measured: when its first and its last benchmark began; None where none says.
        facts: what it was measured on, by name: cpu, os, python, torch and others.
        benchmarks: by name.
    """

    path: Path
    machine: str
    commit: str
    committed: datetime
    measured: tuple[datetime, datetime] | None
    facts: Mapping[str, str] = field(default_factory=dict)
    benchmarks: Mapping[str, Benchmark] = field(default_factory=dict)

    @property
    def cells(self) -> list[Cell]:
        """Every cell, benchmark by benchmark."""
        return [cell for benchmark in self.benchmarks.values() for cell in benchmark.cells]

    def cells_of(self, name: str) -> tuple[Cell, ...]:
        """The cells of the benchmark `name`; none where it is not in the file."""
        benchmark = self.benchmarks.get(name)
        return benchmark.cells if benchmark else ()

    @property
    def environment(self) -> str:
        """The name of asv's environment, by which asv names the file behind the commit."""
        return self.path.stem.partition("-")[2]

    @property
    def is_paired(self) -> bool:
        """Whether a comparison wrote it, which measures only some cells, and no asv run."""
        return self.environment.startswith("paired")

    @property
    def age(self) -> tuple[datetime, datetime]:
        """What results are ordered by: the commit's time, then the last benchmark's."""
        return self.committed, self.measured[1] if self.measured else self.committed


def read_result(
    path: Path, declared: Mapping[str, Any], only: Collection[str] | None = None
) -> Result:
    """The result in an asv result file.

    Args:
        path: the file.
        declared: the content of asv's `benchmarks.json`, for units and names of parameters.
        only: the benchmarks to read, for who wants few of many files; None for all.

    Raises:
        ValueError: the file is no asv result or is damaged; the message names the file and, where
            it is known, the benchmark.
        OSError: the file cannot be read.
    """
    try:
        values = _parsed(path.read_bytes())
        return _result(path, values, declared, only)
    except KeyError as error:
        raise ValueError(f"{path}: no asv result: field {error} is missing") from None
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{path}: no asv result: {error}") from None


def _parsed(data: bytes) -> Any:
    """The content of a result file, by orjson: a folder may hold years of them.

    asv writes bare NaN and Infinity, which are no JSON; as texts they are. One that stands inside a
    text already ends that text, so that such a file is left to the standard library.
    """
    texts = data
    for written, name in NOT_FINITE.items():
        texts = texts.replace(written, b'"%b"' % name)
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(texts)
    return json.loads(data.decode("utf-8"))


def _result(
    path: Path,
    values: Mapping[str, Any],
    declared: Mapping[str, Any],
    only: Collection[str] | None,
) -> Result:
    params = values["params"]
    columns = values["result_columns"]
    rows = {name: dict(zip(columns, row, strict=False)) for name, row in values["results"].items()}
    began = [row["started_at"] for row in rows.values() if row.get("started_at")]
    return Result(
        path,
        str(params.get("machine") or path.parent.name),
        _hash(values["commit_hash"]),
        _time(values.get("date") or 0),
        (_time(min(began)), _time(max(began))) if began else None,
        {name: str(value) for name, value in params.items() if value not in (None, "")},
        {
            name: _benchmark(name, row, declared.get(name))
            for name, row in rows.items()
            if only is None or name in only
        },
    )


def _hash(value: Any) -> str:
    """A commit's hash: commands with it are shown to be copied, so it must be nothing else."""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-f]{7,64}", value):
        raise ValueError(f"commit_hash {value!r} is no hash")
    return value


def _time(milliseconds: Any) -> datetime:
    """asv counts milliseconds since 1970."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OSError, OverflowError):  # which of them depends on how far out it is
        raise ValueError(f"{milliseconds!r} milliseconds since 1970 is no date") from None


def _benchmark(name: str, row: Mapping[str, Any], declared: Any) -> Benchmark:
    declared = declared if isinstance(declared, Mapping) else {}
    try:
        cells = tuple(_cells(name, row, declared))
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"benchmark {name!r}: {error}") from None
    return Benchmark(name, str(row.get("version") or ""), cells)


def _cells(name: str, row: Mapping[str, Any], declared: Mapping[str, Any]) -> list[Cell]:
    axes = row.get("params") or _declared_axes(row, declared)
    count = math.prod(len(axis) for axis in axes)
    if count > MOST_CELLS:
        raise ValueError(f"{count} cells; at most {MOST_CELLS} can be meant")
    unit = str(declared.get("unit") or ("seconds" if declared.get("type") == "time" else ""))
    names = _parameter_names(declared.get("param_names"), len(axes))
    columns = [
        _column(row.get(column), count, column)
        for column in ("result", "stats_ci_99_a", "stats_ci_99_b", "samples")
    ]
    return [
        _cell(name, tuple(zip(names, map(_shown, combination), strict=True)), unit, *entry)
        for combination, *entry in zip(product(*axes), *columns, strict=True)
    ]


def _declared_axes(row: Mapping[str, Any], declared: Mapping[str, Any]) -> Sequence[Any]:
    """asv stores no parameters of a benchmark that failed as a whole: those of its declaration."""
    if row.get("result") is None and row.get("version") == declared.get("version"):
        return declared.get("params") or []
    return []


def _parameter_names(names: Any, count: int) -> list[str]:
    known = [str(name) for name in names] if isinstance(names, Sequence) else []
    return [*known, *(f"parameter {number}" for number in range(len(known) + 1, count + 1))][:count]


def _column(values: Any, count: int, name: str) -> Sequence[Any]:
    """A value a cell; None for the whole column means that no cell has one."""
    if values is None:
        return [None] * count
    if not isinstance(values, list) or len(values) != count:
        found = f"{len(values)} values" if isinstance(values, list) else repr(values)
        raise ValueError(f"{name} must hold {count} values, not {found}")
    return values


def _shown(value: Any) -> str:
    """A parameter's value: asv stores its repr."""
    return _literal(str(value))


@lru_cache(maxsize=4_096)  # files of one folder repeat the same few values
def _literal(text: str) -> str:
    if text[:1] in ("'", '"'):
        try:
            return str(ast.literal_eval(text))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            pass
    return text


def _cell(
    name: str,
    parameters: tuple[tuple[str, str], ...],
    unit: str,
    value: Any,
    low: Any,
    high: Any,
    samples: Any,
) -> Cell:
    if value is None:
        return Cell(name, parameters, "failed", unit=unit)
    number = _number(value)
    if math.isnan(number):
        return Cell(name, parameters, "skipped", unit=unit)
    interval = None if low is None or high is None else (_number(low), _number(high))
    if interval and not all(map(math.isfinite, interval)):  # too few samples for an interval
        interval = None
    if samples and set(map(type, samples)) == {float}:
        taken = tuple(samples)
    else:
        taken = tuple(map(_number, samples or ()))
    return Cell(name, parameters, "measured", number, unit, interval, taken)


def _number(value: Any) -> float:
    if isinstance(value, str) and value.encode() in NOT_FINITE.values():
        return float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{value!r} is no number")
    return float(value)
