"""Slow, obviously right planners: the oracles that the fast one is compared with.

`reference_plan` is the planner as first specified, `Textbook` the same dynamic program (rows x
cap) for any cost, and `cheapest_partition` tries every set partition.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from decider.costs import CostModel
from decider.grid import BucketGrid

Plan = list[tuple[int, list[int]]]


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
    table = [cap[pads[i]] for i in order]
    cost = {T: [overhead + g * T for g in range(cap[T] + 1)] for T in set(pads)}
    return plan + _split(order, [pads[i] for i in order], table, cost)


class Textbook:
    """The textbook dynamic program, rows x cap, for rows that fit the grid's length buckets.

    Its tables of caps and costs are made once, as the fast planner's are, so that a comparison of
    speeds compares the programs.
    """

    def __init__(self, grid: BucketGrid, cost: CostModel, max_batch: int = 32) -> None:
        self.ladder = grid.length_buckets
        self.cap = {T: max(1, min(max_batch, grid.max_rows(T))) for T in self.ladder}
        self.costs = {
            T: [0, *(cost.cost(g, T) for g in range(1, cap + 1))] for T, cap in self.cap.items()
        }

    def plan(self, lengths: Sequence[int]) -> Plan:
        pads = [self.ladder[bisect_left(self.ladder, n)] for n in lengths]
        order = sorted(range(len(pads)), key=lambda i: -pads[i])
        return _split(
            order, [pads[i] for i in order], [self.cap[pads[i]] for i in order], self.costs
        )


def _split(order, lengths, caps, costs) -> Plan:
    count = len(order)
    least = [0] * (count + 1)
    take = [0] * (count + 1)
    for k in range(count - 1, -1, -1):
        row_costs = costs[lengths[k]]
        best, chosen = None, 1
        for g in range(1, min(caps[k], count - k) + 1):
            value = row_costs[g] + least[k + g]
            if best is None or value <= best:
                best, chosen = value, g
        least[k], take[k] = best, chosen
    plan: Plan = []
    k = 0
    while k < count:
        plan.append((lengths[k], sorted(order[k : k + take[k]])))
        k += take[k]
    return plan


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
