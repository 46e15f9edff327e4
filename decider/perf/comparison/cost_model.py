"""The cost model of both sides: its overhead fitted to what each side's arms measured.

The fit is `decider.perf.calibration`'s, with every arm's process as a run. Knows pairs and cells;
reads no files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import special

from decider.costs import MeasuredCost
from decider.grid import Shape
from decider.perf.calibration.calibration import MAX_BATCH, SEED, Calibration, calibrate
from decider.perf.calibration.fit import LEVEL, run_overheads
from decider.perf.calibration.measurement import Cell, Measurement, smallest_grid
from decider.perf.calibration.pricing import ladder, priced, totals
from decider.perf.calibration.queues import queues_of_mixes
from decider.perf.calibration.replication import replicates
from decider.perf.comparison.pair import SIDES, Pair, Side

MIX = "decision"
QUEUES = 40


def cost_model(
    pairs: Sequence[Pair], shapes: Mapping[str, Shape], constant: int | None
) -> dict[str, Any] | None:
    """The `cost_model` part of a comparison's document; None where no forward was measured.

    Only pairs with every shape count: a line through other cells is another line.

    Args:
        pairs: what was measured.
        shapes: those of the forwards, by the cell's id.
        constant: the overhead that head's server plans with, in token-units.
    """
    whole = [pair for pair in pairs if shapes and shapes.keys() <= pair.cells.keys()]
    if not whole:
        return None
    found: dict[Side, Calibration] = {
        side: calibrate(_measurement(whole, shapes, side), ()) for side in SIDES
    }
    notes = [
        f"{side}: {refusal.message}: {refusal.cure}"
        for side in SIDES
        for refusal in found[side].refusals
    ]
    ratio, low, high = _ratio(found)
    excess = None
    if constant is not None:
        excess, reason = _excess(found["head"], constant)
        notes += [reason] if reason else []
    return {
        "base": _line(found["base"]),
        "head": _line(found["head"]),
        "ratio": ratio,
        "ratio_low": low,
        "ratio_high": high,
        "constant": constant,
        "excess": excess,
        "notes": notes,
    }


def _measurement(pairs: Sequence[Pair], shapes: Mapping[str, Shape], side: Side) -> Measurement:
    cells = tuple(
        Cell(
            shape,
            tuple(
                tuple(
                    tuple(1_000 * seconds for seconds in block)
                    for index, block in enumerate(pair.cells[name].blocks[side])
                    if index // 2 not in pair.cells[name].dropped
                )
                for pair in pairs
            ),
        )
        for name, shape in sorted(shapes.items(), key=lambda item: item[1][::-1])
    )
    grid = smallest_grid(list(shapes.values()))
    return Measurement(cells, grid, side, run_count=len(pairs), queueing=False)


def _line(found: Calibration) -> dict[str, Any] | None:
    if found.whole is None or found.medians is None:
        return None
    line, interval = found.whole.line, found.whole.interval
    return {
        "overhead": _finite(line.overhead),
        "low": _finite(interval.low),
        "high": _finite(interval.high),
        "fixed_seconds": line.fixed / 1_000,
        "seconds_per_token": line.per_token / 1_000,
        "cells": [
            {"batch": shape.batch, "length": shape.length, "seconds": milliseconds / 1_000}
            for shape, milliseconds in found.medians.items()
        ],
    }


def _ratio(found: Mapping[Side, Calibration]) -> tuple[float | None, float | None, float | None]:
    """Overhead of head over base's: paired, with Student's t over the pairs' log-ratios."""
    own = [run_overheads(replicates(found[side].measurement)) for side in SIDES]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(own[1] / own[0])
    logs = logs[np.isfinite(logs)]
    if len(logs) == 0:
        return None, None, None
    centre = float(logs.mean())
    if len(logs) < 2:
        return math.exp(centre), None, None
    error = float(logs.std(ddof=1)) / math.sqrt(len(logs))
    reach = float(special.stdtrit(len(logs) - 1, (1 + LEVEL) / 2)) * error
    return math.exp(centre), math.exp(centre - reach), math.exp(centre + reach)


def _excess(head: Calibration, constant: int) -> tuple[float | None, str | None]:
    """By which share plans made with `constant` take longer than those of the refitted one."""
    if head.whole is None or head.medians is None or not math.isfinite(head.whole.line.overhead):
        return None, "the constant's plans are not priced: no overhead was fitted on head"
    grid = head.measurement.grid
    if len(grid.batch_buckets) == 1:
        return None, "the constant's plans are not priced: with one batch bucket nothing merges"
    try:
        table = MeasuredCost(
            {(shape.batch, shape.length): ms for shape, ms in head.medians.items()}, grid
        )
    except ValueError as error:
        return None, f"the constant's plans are not priced: {error}"
    fitted = head.whole.line.overhead
    prices = {
        name: priced(ladder(overhead, grid, MAX_BATCH), table)
        for name, overhead in (("shipped", constant), ("fitted", fitted))
    }
    strata = queues_of_mixes([MIX], QUEUES, grid.length_buckets[-1])
    summed = totals(prices, strata, np.random.default_rng(SEED))
    return summed.excess("shipped", "fitted").value, None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
