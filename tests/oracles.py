"""Slow, obviously right planners: the oracles that the fast one is compared with.

`reference_plan` is the planner as first specified, `textbook_plan` the same dynamic program (rows x
cap) for any cost, and `cheapest_partition` tries every set partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.textbook import Plan, Textbook, split
from decider.costs import CostModel
from decider.grid import BucketGrid


def reference_plan(lengths, pad_len, max_rows, max_batch, overhead=512, mergeable=None) -> Plan:
    """The plan as first specified: linear cost, ties to the larger group."""
    cap = {T: max(1, min(max_batch, max_rows(T))) for T in map(pad_len, lengths)}
    pads = [pad_len(n) for n in lengths]
    merge = [mergeable is None or bool(mergeable(n)) for n in lengths]
    plan: Plan = []
    alone: dict[int, list[int]] = {}
    for i, T in enumerate(pads):
        if not merge[i]:
            alone.setdefault(T, []).append(i)
    for T, rows in alone.items():
        plan += [(T, rows[k : k + cap[T]]) for k in range(0, len(rows), cap[T])]
    order = sorted((i for i in range(len(pads)) if merge[i]), key=lambda i: -pads[i])
    costs = {T: [overhead + g * T for g in range(cap[T] + 1)] for T in cap}
    return plan + split(order, [pads[i] for i in order], cap, costs)


def textbook_plan(lengths: Sequence[int], grid: BucketGrid, cost: CostModel, max_batch=32) -> Plan:
    """The textbook plan of rows that fit the grid's length buckets."""

    def cap(T: int) -> int:
        return max(1, min(max_batch, grid.max_rows(T)))

    return Textbook(grid.length_buckets, cap, cost.cost).plan(lengths)


def set_partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """Every partition of `items` into non-empty blocks."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in set_partitions(rest):
        yield [[first], *partition]
        for i, block in enumerate(partition):
            yield [*partition[:i], [first, *block], *partition[i + 1 :]]


def cheapest_partition(
    pads: Sequence[int],
    runs_at: Sequence[int],
    cap: Callable[[int], int],
    cost: Callable[[int, int], float],
) -> float:
    """Least cost over every set partition, each block run at the best length that holds it.

    `runs_at` are the padded lengths that exist; a block of g rows may run at any of them that
    covers its longest row and takes g rows.
    """
    best = float("inf")
    for partition in set_partitions(list(range(len(pads)))):
        total = 0.0
        for block in partition:
            longest = max(pads[i] for i in block)
            options = [
                cost(len(block), T) for T in runs_at if longest <= T and cap(T) >= len(block)
            ]
            total += min(options, default=float("inf"))
        best = min(best, total)
    return best
