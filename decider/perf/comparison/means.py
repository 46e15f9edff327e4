"""The mean of a benchmark: one more cell, which sees what moves all of its cells alike.

A change of the engine mostly moves every forward by the same share. Their geometric mean averages
the cells' own noise out, so it shows such a change long before any one of them does. Knows pairs
and cells; judges nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from statistics import fmean
from typing import Any

from decider.perf.comparison.pair import SIDES, CellPair, Pair, Side

MEAN = "mean"
FEWEST_CELLS = 2


def mean_cell(benchmark: str) -> dict[str, Any]:
    """What a document says of the mean of a benchmark."""
    return {
        "id": f"{MEAN}/{benchmark}",
        "benchmark": MEAN,
        "parameters": {"of": benchmark},
        "real_tokens": None,
        "padded_tokens": None,
    }


def mean_of(cell: Mapping[str, Any]) -> str:
    """The id of the mean that a cell is part of."""
    return f"{MEAN}/{cell['benchmark']}"


def with_means(pair: Pair, members: Mapping[str, Collection[str]]) -> None:
    """Add to `pair` the mean of each benchmark of which it measured every member.

    Its blocks are one a side: the geometric mean of the cells' times.

    Args:
        pair: what was measured; a mean of only some members would be another quantity.
        members: the cells of each mean, by the mean's id.
    """
    for name, cells in members.items():
        if len(cells) >= FEWEST_CELLS and all(cell in pair.cells for cell in cells):
            own = [pair.cells[cell] for cell in cells]
            blocks: dict[Side, list[list[float]]] = {
                side: [[math.exp(fmean(cell.log_seconds(side) for cell in own))]] for side in SIDES
            }
            pair.cells[name] = CellPair(1, blocks)
