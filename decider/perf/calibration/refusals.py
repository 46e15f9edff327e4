"""When a measurement proves nothing about the overhead, and what to measure to cure it.

A refusal of the measurement means that its times cannot be used at all; a refusal of the fit, that
they do not settle the overhead, though forwards may still be priced with them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from decider.grid import Shape
from decider.perf.calibration.fit import Interval, Line
from decider.perf.calibration.measurement import Measurement

FEWEST_SIZES = 6
NARROWEST_SPAN = 16
WIDEST_INTERVAL = 0.25
MOST_NAMED = 6


@dataclass(frozen=True)
class Refusal:
    """Why a derived constant is refused: a stable `code`, a sentence, and the way out.

    `of` says what is refused: the "measurement" with all its times, or only the "fit".
    """

    code: str
    message: str
    cure: str
    of: Literal["measurement", "fit"]


def refusals_of_measurement(measurement: Measurement) -> list[Refusal]:
    """What is wrong with the times themselves or with what was measured."""
    return [*_bad_times(measurement), *_queueing(measurement), *_missing(measurement)]


def refusals_of_sizes(measurement: Measurement) -> list[Refusal]:
    """Whether the measured sizes can tell a fixed cost from a cost per token."""
    sizes = sorted({cell.tokens for cell in measurement.cells})
    refused = []
    if len(sizes) == 1:
        refused.append(
            Refusal(
                "one-size",
                f"all {len(measurement.cells)} cells have the same B*T, {sizes[0]} tokens: no line "
                "goes through one point",
                "measure forwards of at least 6 different B*T",
                "fit",
            )
        )
    elif len(sizes) < FEWEST_SIZES:
        refused.append(
            Refusal(
                "few-sizes",
                f"only {len(sizes)} distinct B*T: {_named(sizes)}",
                f"measure forwards of at least {FEWEST_SIZES} different B*T",
                "fit",
            )
        )
    if len(sizes) > 1 and sizes[-1] < NARROWEST_SPAN * sizes[0]:
        refused.append(
            Refusal(
                "narrow-span",
                f"B*T spans {sizes[-1] / sizes[0]:.1f} times: {sizes[0]} to {sizes[-1]} tokens",
                f"measure from {sizes[0]} to at least {NARROWEST_SPAN * sizes[0]} tokens, or "
                "smaller forwards",
                "fit",
            )
        )
    return refused


def refusals_of_fit(line: Line, interval: Interval) -> list[Refusal]:
    """Whether the estimate is inside its bounds and known well enough."""
    if line.fixed <= 0 or line.per_token <= 0:
        bound, cure = (
            ("no fixed cost", "measure smaller forwards, where it shows")
            if line.fixed <= 0
            else ("no cost per token", "measure larger forwards, where it shows")
        )
        return [
            Refusal("on-bound", f"the best line has {bound}: it lies on its bound", cure, "fit")
        ]
    overhead = line.overhead
    reach = max(interval.high / overhead - 1, 1 - interval.low / overhead)
    if reach <= WIDEST_INTERVAL:
        return []
    cures = {
        "run": "measure more runs, or find what differs between processes",
        "block": "measure longer: more blocks a cell (a smaller half-width), a quieter machine",
        "cell": "measure every cell several times; where no line fits the cells, plan with the "
        "measured table (--cost-out)",
    }
    return [
        Refusal(
            "wide-interval",
            f"the overhead {overhead:.0f} lies between {interval.low:.0f} and {interval.high:.0f}: "
            f"wider than plus or minus {WIDEST_INTERVAL:.0%}",
            cures[interval.unit],
            "fit",
        )
    ]


def _bad_times(measurement: Measurement) -> Iterator[Refusal]:
    for cell in measurement.cells:
        bad = [ms for ms in cell.samples if not (math.isfinite(ms) and ms > 0)]
        if bad:
            yield Refusal(
                "bad-time",
                f"cell {_shape(cell.shape)} holds a time of {bad[0]!r} ms, which is not finite and "
                "above 0",
                "correct or leave out that sample, and find out how it came in",
                "measurement",
            )


def _queueing(measurement: Measurement) -> Iterator[Refusal]:
    if measurement.queueing:
        yield Refusal(
            "queueing",
            "the times include waiting for other forwards",
            "time single forwards on an idle engine, host to host",
            "measurement",
        )


def _missing(measurement: Measurement) -> Iterator[Refusal]:
    """An unfinished run, or a bucket of the grid without any cell; single holes are no refusal."""
    missing = measurement.missing
    if not measurement.complete:
        yield Refusal(
            "unfinished",
            f"the run did not end: {len(missing)} captured shapes have no time, and the others may "
            "be short of samples",
            "resume it: the same command with --resume",
            "measurement",
        )
    measured = {cell.shape for cell in measurement.cells}
    for name, axis in (("batch bucket", "batch"), ("length bucket", "length")):
        without = {getattr(s, axis) for s in missing} - {getattr(s, axis) for s in measured}
        if without:
            yield Refusal(
                "missing-slice",
                f"no cell of {name} {_named(sorted(without))} was measured, though the grid "
                "captures it",
                "measure the whole grid, or calibrate with a grid that ends earlier",
                "measurement",
            )


def _named(values: list[int]) -> str:
    more = f" and {len(values) - MOST_NAMED} more" if len(values) > MOST_NAMED else ""
    return ", ".join(str(value) for value in values[:MOST_NAMED]) + more


def _shape(shape: Shape) -> str:
    return f"{shape.batch}×{shape.length}"
