"""A cell's samples as a strip: a small inline SVG with a tick a sample.

All strips share one scale, the sample over the cell's median from half to double, so that their
spreads can be compared at a glance.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from markupsafe import Markup

from decider.perf.report.quantities import counted, quantity

WIDTH = 96
HEIGHT = 14
REACH = 2.0
"""A strip spans the median divided and multiplied by this; samples beyond stand at its ends."""


def strip(samples: Sequence[float], unit: str) -> Markup:
    """The strip of `samples`, or nothing where there are none to draw.

    Samples of one position share a tick, so a strip's size does not grow with their number.
    """
    finite = sorted(sample for sample in samples if math.isfinite(sample))
    if not finite:
        return Markup()
    middle = statistics.median(finite)
    ticks = sorted({_position(sample, middle) for sample in finite})
    label = counted(len(finite), "sample")
    label += f", {quantity(finite[0], unit)} to {quantity(finite[-1], unit)}"
    path = "".join(f"M{tick} 4v6" for tick in ticks)
    return Markup(
        '<svg class="strip" role="img" viewBox="0 0 {0} {1}" width="{0}" height="{1}" '
        'aria-label="{2}"><path d="M{3} 1v12" class="median"/><path d="{4}"/></svg>'
    ).format(WIDTH, HEIGHT, label, WIDTH // 2, path)


def _position(sample: float, middle: float) -> int:
    """Where the sample stands, in whole pixels, so that close ones share a tick."""
    if sample == middle:
        return WIDTH // 2
    if sample <= 0 or middle <= 0:  # no ratio: it stands at the end on its side
        return 1 if sample < middle else WIDTH - 1
    share = (math.log(sample) - math.log(middle)) / math.log(REACH)
    return round(WIDTH / 2 + max(-1.0, min(1.0, share)) * (WIDTH / 2 - 1))
