"""How often some traffic runs each measured forward.

Knows shapes and counts; no times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from decider.grid import Shape


@dataclass(frozen=True)
class Traffic:
    """Weights of the measured cells.

    Attributes:
        weights: forwards, by the cell's id.
        exact: share of the traffic's padded tokens that run on a measured shape itself.
    """

    weights: Mapping[str, float]
    exact: float

    @property
    def description(self) -> str:
        """What the weights are, for people."""
        return (
            "padded tokens of queues of 32 rows of the decision mix, each forward counted at the "
            f"measured shape nearest in padded tokens; {self.exact:.0%} run on a measured shape"
        )


def traffic(forwards: Mapping[str, int], shapes: Mapping[str, Shape]) -> Traffic | None:
    """The traffic on the measured shapes; None where there is no traffic or no shape.

    Args:
        forwards: how often each shape runs, by `BxT`.
        shapes: the measured ones, by the cell's id.
    """
    if not forwards or not shapes:
        return None
    by_shape = {shape: cell for cell, shape in shapes.items()}
    weights = dict.fromkeys(shapes, 0.0)
    total = exact = 0
    for name, count in forwards.items():
        batch, length = (int(part) for part in name.split("x"))
        tokens = batch * length
        total += count * tokens
        if cell := by_shape.get(Shape(batch, length)):
            exact += count * tokens
        else:
            cell = _nearest(tokens, shapes)
        shape = shapes[cell]
        weights[cell] += count * tokens / (shape.batch * shape.length)
    return Traffic(weights, exact / total)


def _nearest(tokens: int, shapes: Mapping[str, Shape]) -> str:
    return min(
        shapes, key=lambda cell: abs(math.log(shapes[cell].batch * shapes[cell].length / tokens))
    )
