"""Measurements for the tests: known lines, with and without noise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from decider.grid import CPU_GRID, BucketGrid, Shape
from decider.perf.calibration.measurement import Measurement, measurement
from decider.perf.calibration.simulation import Scenario

PER_TOKEN = 0.0138


def on_a_line(
    overhead: float,
    shapes: Iterable[Shape] = CPU_GRID.shapes,
    *,
    grid: BucketGrid | None = None,
    blocks: int = 1,
    **fields: Any,
) -> Measurement:
    """Cells exactly on a line, each block of one sample."""
    cells = {
        shape: (((overhead + shape.batch * shape.length) * PER_TOKEN,),) * blocks
        for shape in shapes
    }
    return measurement(cells, "exact", grid=grid, **fields)


def noisy(seed: int = 0, **fields: Any) -> Measurement:
    """A simulated measurement of the CPU grid, overhead 667, noise 1% unless said otherwise."""
    scenario = Scenario("test", **{"grid": CPU_GRID, **fields})
    return scenario.simulate(np.random.default_rng(seed))
