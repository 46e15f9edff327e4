"""A cell's samples or the log-ratios of its pairs as a strip: a small inline SVG of ticks.

All strips of a kind share one scale, so that their spreads can be compared at a glance. Each is one
path of whole pixels, since a page holds thousands.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from decider.perf.report.quantities import counted, quantity

WIDTH = 96
"""Pixels; the style sheet has it too, and the height."""

REACH = 2.0
"""A strip of samples spans the median divided and multiplied by this; samples beyond stand at its
ends."""

RATIO_REACH = 1.1
"""A strip of log-ratios spans head over base from 1/1.1 to 1.1."""


def strip(samples: Sequence[float], unit: str) -> Markup:
    """The strip of `samples`, or nothing where there are none to draw."""
    finite = sorted(sample for sample in samples if math.isfinite(sample))
    if not finite:
        return Markup()
    middle = statistics.median(finite)
    label = counted(len(finite), "sample")
    label += f", {quantity(finite[0], unit)} to {quantity(finite[-1], unit)}"
    return _drawn((_position(sample, middle) for sample in finite), label)


def ratio_strip(log_ratios: Sequence[float]) -> Markup:
    """The strip of a cell's log-ratios, a tick a pair; the upright line is no change.

    The order of pairs is not kept: it says nothing where they are exchangeable.
    """
    finite = sorted(ratio for ratio in log_ratios if math.isfinite(ratio))
    if not finite:
        return Markup()
    low, high = (f"{100 * _share(ratio):+.3g}%" for ratio in (finite[0], finite[-1]))
    label = f"{low} to {high}"
    return _drawn((_pixel(ratio / math.log(RATIO_REACH)) for ratio in finite), label)


def _share(log_ratio: float) -> float:
    return math.expm1(min(log_ratio, 100.0))


def _drawn(positions: Iterable[int], label: str) -> Markup:
    """Ticks one pixel wide, neighbours as one stroke: its size does not grow with their number."""
    runs: list[list[int]] = []
    for position in sorted(set(positions)):
        if runs and sum(runs[-1]) == position:
            runs[-1][1] += 1
        else:
            runs.append([position, 1])
    path = "".join(f"M{start} 7h{length}" for start, length in runs)
    return Markup('<svg role="img" aria-label="{}"><path d="{}"/></svg>').format(label, path)


def _position(sample: float, middle: float) -> int:
    """Where the sample stands, in whole pixels, so that close ones share a tick."""
    if sample == middle:
        return WIDTH // 2
    if sample <= 0 or middle <= 0:  # no ratio: it stands at the end on its side
        return 1 if sample < middle else WIDTH - 1
    return _pixel((math.log(sample) - math.log(middle)) / math.log(REACH))


def _pixel(share: float) -> int:
    """The place of a share of the reach, -1 to 1; what is beyond stands at the end."""
    return round(WIDTH / 2 + max(-1.0, min(1.0, share)) * (WIDTH / 2 - 1))
