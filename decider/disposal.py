"""Costs closed under free disposal: a forward may always run longer, or with empty rows.

Turns a cost model and caps into what the dynamic program asks for; knows no rows and no plans.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from decider.costs import CostModel, rounded
from decider.partition import Steps

Option = tuple[int, float, int]
"""A size, what a group of up to that many rows costs, and the padded length it runs at."""


def closed_steps(cost: CostModel, caps: Mapping[int, int]) -> dict[int, Steps]:
    """What groups cost at each padded length, closed under free disposal.

    A group may run at any of the lengths that covers its rows, under that length's cap. The costs
    that come out rise with the group's size and do not fall with its length, and the caps do not
    rise with it, which is what the proof in docs/planner.md asks for.

    Args:
        cost: any cost model.
        caps: rows a forward may take, by padded length.

    Returns:
        Steps by padded length, rising.

    Raises:
        ValueError: a cost that is not finite and at least 0, or that falls as rows are added, or a
            length that no cost is known for. The message names rows and length.
    """
    closed: dict[int, Steps] = {}
    known: list[Option] = []
    for T in sorted(caps, reverse=True):
        known = _frontier(known + _options(cost, T, caps[T]))
        if not known:
            raise ValueError(f"the cost model knows no forward that holds a row of {T} tokens")
        sizes, costs, lengths = zip(*known, strict=True)
        closed[T] = Steps(sizes, costs, lengths)
    return dict(sorted(closed.items()))


def _options(cost: CostModel, T: int, cap: int) -> list[Option]:
    options = []
    before = 0.0
    for size in cost.sizes(T, cap):
        value = cost.cost(size, T)
        if not math.isfinite(value) or value < before:
            raise ValueError(
                f"the cost of {size} rows of {T} tokens is {value!r}: it must be finite and not "
                f"below that of fewer rows, {before!r}, since a forward may run with empty rows"
            )
        before = value
        options.append((size, rounded(value), cost.shape(size, T).length))
    return options


def _frontier(options: list[Option]) -> list[Option]:
    """The options that no option for at least as many rows undercuts, by rising size."""
    kept = []
    least = math.inf
    for option in sorted(options, key=lambda option: (-option[0], option[1], option[2])):
        if option[1] < least:
            kept.append(option)
            least = option[1]
    return kept[::-1]
