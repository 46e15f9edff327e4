"""What a forward costs, in token-units.

Three models of one small protocol: the straight line, the ladder that really runs, and a table of
measured cells. They know shapes and numbers only: no rows, no plans, no torch.

Costs that are whole multiples of 1/1024 token-unit add up without rounding in any order, so a
plan's cost, its ledger and the planner's ties are exact. Every model here rounds what it is given
to that step: a token-unit is microseconds, so the step is far below anything that can be measured.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, SupportsFloat

from decider.files import write_text
from decider.grid import BucketGrid, Shape

SCHEMA = "decider.cost/1"
GRID_FILE_SCHEMA = "decider.grid/1"
"""What `python -m benchmarks.forward` writes; its cells are the same as a measured cost's."""

COST_STEP = 1 / 1024
"""The step that costs are rounded to. A power of two, so that sums below 2**43 are exact."""


class CostModel(Protocol):
    """What one forward costs.

    Subclass it and define `cost`; the planner needs no more. `sizes` and `shape` have defaults that
    are right for every cost and slow for a stepwise one. A cost is finite, at least 0 and does not
    fall as rows are added, since a forward may run with empty rows. It may fall as the length
    grows: the planner then runs shorter rows at the cheaper length.
    """

    def cost(self, rows: int, length: int) -> float:
        """Cost, in token-units, of one forward of `rows` rows padded to `length` tokens."""
        ...

    def sizes(self, length: int, cap: int) -> Sequence[int]:  # noqa: ARG002
        """The group sizes worth trying at `length`, rising, none above `cap`.

        Between two of them the cost must be that of the larger; more rows than the last cannot run.
        """
        return range(1, cap + 1)

    def shape(self, rows: int, length: int) -> Shape:
        """The shape that such a forward really runs at; it holds `rows` and covers `length`."""
        return Shape(rows, length)


def rounded(cost: float) -> float:
    """`cost` as a multiple of `COST_STEP`, an `int` where it is whole."""
    steps = round(cost * 1024)
    return steps // 1024 if steps % 1024 == 0 else steps / 1024


def checked_overhead(overhead: float) -> float:
    """`overhead` itself.

    Raises:
        ValueError: it is not a finite number of at least 0.
    """
    if isinstance(overhead, (bool, str)) or not isinstance(overhead, SupportsFloat):
        raise ValueError(f"overhead must be a number, not {overhead!r}")
    if not isinstance(overhead, (int, float)):
        overhead = float(overhead)
    if not math.isfinite(overhead) or overhead < 0:
        raise ValueError(f"overhead must be finite and at least 0, not {overhead!r}")
    return overhead


@dataclass(frozen=True)
class LinearCost(CostModel):
    """`overhead + rows * length`: every row costs its own padded tokens and no more.

    Raises:
        ValueError: the overhead is not a finite number of at least 0.
    """

    overhead: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "overhead", rounded(checked_overhead(self.overhead)))

    def cost(self, rows: int, length: int) -> float:
        return self.overhead + rows * length


@dataclass(frozen=True)
class LadderCost(CostModel):
    """`overhead + batch_bucket(rows) * length`: the forward that the engine really runs.

    Above the last length bucket nothing is captured, and a forward costs its own rows.

    Raises:
        ValueError: the overhead is not a finite number of at least 0.
    """

    overhead: float
    grid: BucketGrid = field(default_factory=BucketGrid)

    def __post_init__(self) -> None:
        object.__setattr__(self, "overhead", rounded(checked_overhead(self.overhead)))

    def cost(self, rows: int, length: int) -> float:
        return self.overhead + self.shape(rows, length).batch * length

    def sizes(self, length: int, cap: int) -> Sequence[int]:
        if not self.grid.is_bucketed(length):
            return range(1, cap + 1)
        return [*(b for b in self.grid.batch_buckets if b < cap), cap]

    def shape(self, rows: int, length: int) -> Shape:
        if not self.grid.is_bucketed(length):
            return Shape(rows, length)
        return Shape(self.grid.batch_bucket(rows), length)


class MeasuredCost(CostModel):
    """A table of measured cells, closed under free disposal.

    The cost of (rows, length) is that of the fastest measured cell that holds it: the minimum over
    cells with batch >= rows and length >= length. Holes are allowed: a shape that was not measured
    runs as a larger one that was. Milliseconds become token-units by the time of one padded token
    in the largest measured forward.

    Beyond the longest measured length each padded token more than the cells hold costs one
    token-unit. This extrapolation is there to price rows above the last bucket, which do not merge.

    Args:
        cells: milliseconds by (batch, length).
        grid: the grid to run on. Only cells that it captures are used, since no other can run, and
            they must cover it: for each of its length buckets, and for as many rows as a forward
            takes there, one of them must be large enough.
        source: where the cells were measured, for people.

    Raises:
        ValueError: no cells, a cell whose shape is not whole and positive, a time that is not
            finite and above 0, or a grid that the cells do not cover. The message names the cell.
    """

    def __init__(
        self,
        cells: Mapping[tuple[int, int], float],
        grid: BucketGrid | None = None,
        source: str = "",
    ) -> None:
        if not cells:
            raise ValueError("a measured cost needs at least one cell")
        self.cells = {
            _checked_shape(shape): _checked_time(shape, ms) for shape, ms in cells.items()
        }
        self.source = source
        if grid is not None:
            captured = set(grid.shapes)
            self.cells = {shape: ms for shape, ms in self.cells.items() if shape in captured}
            _check_covers(self.cells, grid)
        largest = max(self.cells, key=lambda shape: (shape.batch * shape.length, shape))
        self.milliseconds_per_token = self.cells[largest] / (largest.batch * largest.length)
        self._batches = sorted({shape.batch for shape in self.cells})
        self._longest = max(shape.length for shape in self.cells)
        self._closed: dict[tuple[int, int], tuple[float, Shape]] = {}

    def cost(self, rows: int, length: int) -> float:
        """Cost in token-units.

        Raises:
            ValueError: no measured cell holds that many rows at that length.
        """
        return self._cheapest(rows, length)[0]

    def sizes(self, length: int, cap: int) -> Sequence[int]:
        if length > self._longest:
            return range(1, cap + 1)
        widest = max(shape.batch for shape in self.cells if shape.length >= length)
        cap = min(cap, widest)
        return [*(b for b in self._batches if b < cap), cap]

    def shape(self, rows: int, length: int) -> Shape:
        return self._cheapest(rows, length)[1]

    def milliseconds(self, rows: int, length: int) -> float:
        """Cost in milliseconds, as measured."""
        return self.cost(rows, length) * self.milliseconds_per_token

    def _cheapest(self, rows: int, length: int) -> tuple[float, Shape]:
        known = self._closed.get((rows, length))
        if known is None:
            known = self._closed[rows, length] = self._search(rows, length)
        return known

    def _search(self, rows: int, length: int) -> tuple[float, Shape]:
        if length > self._longest:
            widest = max(shape.batch for shape in self.cells if shape.length == self._longest)
            base, shape = self._cheapest(min(rows, widest), self._longest)
            extra = rows * length - shape.batch * shape.length
            return base + max(0, extra), Shape(rows, length)
        holding = [
            (ms, shape.batch * shape.length, shape)
            for shape, ms in self.cells.items()
            if shape.batch >= rows and shape.length >= length
        ]
        if not holding:
            raise ValueError(f"no measured cell holds {rows} rows of {length} tokens")
        ms, _, shape = min(holding)
        return rounded(ms / self.milliseconds_per_token), shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeasuredCost) and self.cells == other.cells

    def __hash__(self) -> int:
        return hash(frozenset(self.cells.items()))

    def __repr__(self) -> str:
        return f"MeasuredCost({len(self.cells)} cells up to {self._longest} tokens)"


Cost = LinearCost | LadderCost | MeasuredCost


def to_dict(cost: Cost) -> dict[str, Any]:
    """The model as plain JSON values with a schema version, read back by `from_dict`."""
    if isinstance(cost, LinearCost):
        return {"schema": SCHEMA, "kind": "linear", "overhead": cost.overhead}
    if isinstance(cost, LadderCost):
        grid = cost.grid.to_dict()
        return {"schema": SCHEMA, "kind": "ladder", "overhead": cost.overhead, "grid": grid}
    cells = [
        {"batch": shape.batch, "length": shape.length, "milliseconds": ms}
        for shape, ms in sorted(cost.cells.items())
    ]
    return {"schema": SCHEMA, "kind": "measured", "source": cost.source, "cells": cells}


def from_dict(values: Mapping[str, Any], grid: BucketGrid | None = None) -> Cost:
    """The model that `to_dict` wrote; a measured one also from the grid file of a measurement.

    Args:
        values: the JSON object.
        grid: the grid that a measured table is to run on; see `MeasuredCost`.

    Raises:
        ValueError: another schema or kind, a missing field, or a value the model refuses.
    """
    readers: dict[str, Callable[[Mapping[str, Any]], Cost]] = {
        "linear": lambda v: LinearCost(v["overhead"]),
        "ladder": lambda v: LadderCost(v["overhead"], BucketGrid.from_dict(v["grid"])),
        "measured": lambda v: MeasuredCost(_cells(v["cells"]), grid, v.get("source", "")),
    }
    schema = values.get("schema") if isinstance(values, Mapping) else type(values).__name__
    if schema == GRID_FILE_SCHEMA:
        values = {**values, "kind": "measured", "source": _source(values)}
    elif schema != SCHEMA:
        raise ValueError(f"neither {SCHEMA!r} nor {GRID_FILE_SCHEMA!r}: its schema is {schema!r}")
    kind = values.get("kind")
    if kind not in readers:
        raise ValueError(f"cost model of kind {kind!r}; known: {', '.join(readers)}")
    try:
        return readers[kind](values)
    except (KeyError, TypeError) as error:
        raise ValueError(f"cost model of kind {kind!r}: bad or missing field {error}") from None


def load(path: Path | str, grid: BucketGrid | None = None) -> Cost:
    """The cost model in a JSON file, for `grid` where it is measured; see `from_dict`.

    Raises:
        ValueError: the file cannot be read or holds no cost model; the message names the file.
    """
    try:
        return from_dict(json.loads(Path(path).read_text(encoding="utf-8")), grid)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def save(cost: Cost, path: Path | str) -> None:
    """Write the model as a JSON file, whole or not at all."""
    write_text(path, json.dumps(to_dict(cost), indent=1) + "\n")


def _check_covers(cells: Mapping[Shape, float], grid: BucketGrid) -> None:
    for length in grid.length_buckets:
        rows = grid.max_rows(length)
        if not any(shape.batch >= rows and shape.length >= length for shape in cells):
            raise ValueError(
                f"the measured cells do not cover the grid: none that it captures holds {rows} "
                f"rows of {length} tokens"
            )


def _source(grid_file: Mapping[str, Any]) -> str:
    environment = grid_file.get("environment", {})
    known = (environment.get(name) for name in ("machine", "gpu", "torch", "commit"))
    return " ".join([str(grid_file.get("model", "")), *(str(value) for value in known if value)])


def _cells(values: Iterable[Mapping[str, Any]]) -> dict[tuple[int, int], float]:
    cells: dict[tuple[int, int], float] = {}
    for cell in values:
        shape = (cell["batch"], cell["length"])
        if shape in cells:
            raise ValueError(f"cell {shape} stands twice")
        cells[shape] = cell["milliseconds"]
    return cells


def _checked_shape(shape: tuple[int, int]) -> Shape:
    batch, length = shape
    for value in (batch, length):
        if isinstance(value, bool) or int(value) != value or value < 1:
            raise ValueError(f"cell {shape!r}: batch and length must be whole and at least 1")
    return Shape(int(batch), int(length))


def _checked_time(shape: tuple[int, int], milliseconds: float) -> float:
    if not math.isfinite(milliseconds) or milliseconds <= 0:
        raise ValueError(f"cell {tuple(shape)}: {milliseconds!r} ms is not finite and above 0")
    return float(milliseconds)
