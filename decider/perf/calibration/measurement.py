"""Measured cells of a grid, whatever file they came from.

Knows shapes, samples and what they were measured on; reads no files and does no statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from decider.grid import BucketGrid, Shape

Block = tuple[float, ...]
"""Samples, in milliseconds, taken one after the other."""

Run = tuple[Block, ...]
"""The blocks that one process measured of one cell, in the order of the run."""

SAME_IN_EVERY_RUN = {"machine", "cpu", "gpu", "driver", "torch", "commit", "threads", "model"}
"""Environment fields in which the runs of one measurement may not differ."""


@dataclass(frozen=True)
class Cell:
    """One shape with its samples: blocks of milliseconds by run, `()` for a run without it."""

    shape: Shape
    runs: tuple[Run, ...]

    @property
    def tokens(self) -> int:
        """Padded tokens of one forward, B*T."""
        return self.shape.batch * self.shape.length

    @property
    def samples(self) -> list[float]:
        """Every sample, in milliseconds."""
        return [sample for run in self.runs for block in run for sample in block]


@dataclass(frozen=True)
class Measurement:
    """The measured cells of one commit on one machine.

    Attributes:
        cells: by length and then by batch, each shape once, each with at least one sample.
        grid: the captured shapes that should have been measured.
        source: where the cells came from, for people.
        environment: what they were measured on; the fields that the source knows.
        run_count: processes that measured; every cell has as many entries in `runs`.
        complete: whether the measuring ran to its end.
        queueing: whether a time includes waiting for other forwards; None where nobody says.
    """

    cells: tuple[Cell, ...]
    grid: BucketGrid
    source: str
    environment: Mapping[str, Any] = field(default_factory=dict)
    run_count: int = 1
    complete: bool = True
    queueing: bool | None = None

    @property
    def missing(self) -> tuple[Shape, ...]:
        """Captured shapes without a measured cell."""
        measured = {cell.shape for cell in self.cells}
        return tuple(shape for shape in self.grid.shapes if shape not in measured)

    def single_rows(self) -> Measurement:
        """Its single-row ladder: the cells of batch 1 alone."""
        cells = tuple(cell for cell in self.cells if cell.shape.batch == 1)
        grid = BucketGrid(self.grid.length_buckets, (1,), self.grid.token_budget)
        return Measurement(
            cells, grid, self.source, self.environment, self.run_count, self.complete, self.queueing
        )

    def describe(self, *names: str) -> str:
        """The named environment fields that are known, for people: `machine m, commit c`."""
        known = [(name, self.environment.get(name)) for name in names]
        return ", ".join(f"{name} {value}" for name, value in known if value not in (None, ""))


def measurement(
    blocks: Mapping[Shape, Run],
    source: str,
    *,
    grid: BucketGrid | None = None,
    environment: Mapping[str, Any] | None = None,
    complete: bool = True,
    queueing: bool | None = None,
) -> Measurement:
    """One run's measurement.

    Args:
        blocks: milliseconds by shape; shapes without any sample are left out.
        source: where they came from, for people.
        grid: the grid that was measured; by default the smallest that holds the shapes.
        environment: what they were measured on.
        complete: whether the measuring ran to its end.
        queueing: whether a time includes waiting for other forwards.

    Raises:
        ValueError: no cell has a sample.
    """
    kept = {shape: tuple(b for b in run if b) for shape, run in blocks.items()}
    cells = tuple(
        Cell(shape, (kept[shape],))
        for shape in sorted(kept, key=lambda shape: (shape.length, shape.batch))
        if kept[shape]
    )
    if not cells:
        raise ValueError(f"{source}: no measured cell")
    grid = grid or smallest_grid([cell.shape for cell in cells])
    return Measurement(cells, grid, source, environment or {}, 1, complete, queueing)


def smallest_grid(shapes: Sequence[Shape]) -> BucketGrid:
    """The smallest grid that captures `shapes`: their ladders, and the widest budget they fill."""
    lengths = tuple(sorted({shape.length for shape in shapes}))
    batches = tuple(sorted({shape.batch for shape in shapes}))
    budget = max((s.batch * s.length for s in shapes if s.batch > 1), default=1)
    return BucketGrid(lengths, batches, budget)


def combined(measurements: Sequence[Measurement]) -> Measurement:
    """Several runs of one commit on one machine as one measurement.

    Raises:
        ValueError: they differ in their grid or in an environment field that runs share; the
            message names the field, both values and both sources.
    """
    first, *others = measurements
    if not others:
        return first
    for other in others:
        _check_alike(first, other)
    by_shape = [{cell.shape: cell.runs for cell in one.cells} for one in measurements]
    shapes = {shape for runs in by_shape for shape in runs}
    cells = tuple(
        Cell(shape, _runs_of(shape, measurements, by_shape))
        for shape in sorted(shapes, key=lambda shape: (shape.length, shape.batch))
    )
    queueing = [one.queueing for one in measurements]
    return Measurement(
        cells,
        first.grid,
        ", ".join(one.source for one in measurements),
        _shared(one.environment for one in measurements),
        sum(one.run_count for one in measurements),
        all(one.complete for one in measurements),
        True if True in queueing else None if None in queueing else False,
    )


def difference(first: Measurement, second: Measurement) -> dict[str, tuple[Any, Any]]:
    """The environment fields that both know and in which they differ, the grid among them."""
    fields: dict[str, tuple[Any, Any]] = {}
    if first.grid != second.grid:
        fields["grid"] = (first.grid.to_dict(), second.grid.to_dict())
    for name, value in first.environment.items():
        other = second.environment.get(name, value)
        if other != value:
            fields[name] = (value, other)
    return fields


def _check_alike(first: Measurement, other: Measurement) -> None:
    for name, (value, found) in difference(first, other).items():
        if name == "grid" or name in SAME_IN_EVERY_RUN:
            raise ValueError(
                f"{first.source} and {other.source} are no runs of one measurement: their {name} "
                f"is {value!r} and {found!r}; give one of them with --baseline to compare them"
            )


def _runs_of(
    shape: Shape,
    measurements: Sequence[Measurement],
    by_shape: Sequence[Mapping[Shape, tuple[Run, ...]]],
) -> tuple[Run, ...]:
    """The runs of all measurements at one shape, `()` for each run that lacks it."""
    return tuple(
        run
        for one, runs in zip(measurements, by_shape, strict=True)
        for run in runs.get(shape, ((),) * one.run_count)
    )


def _shared(environments: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What all environments agree on."""
    first, *others = environments
    return {
        name: value for name, value in first.items() if all(o.get(name) == value for o in others)
    }
