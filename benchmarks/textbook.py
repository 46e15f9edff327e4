"""The textbook dynamic program, rows x cap: what the planner's speed is measured against.

It is an oracle of the tests too. It imports nothing of `decider`, so that it is the same program
beside every commit.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

Plan = list[tuple[int, list[int]]]


class Textbook:
    """Plans of rows that fit the length buckets, by trying every group size at every row.

    Its tables of caps and costs are made once, as the fast planner's are, so that a comparison of
    speeds compares the programs.
    """

    def __init__(
        self,
        length_buckets: Sequence[int],
        cap: Callable[[int], int],
        cost: Callable[[int, int], float],
    ) -> None:
        self.ladder = length_buckets
        self.caps = {T: cap(T) for T in length_buckets}
        self.costs = {
            T: [0.0, *(cost(rows, T) for rows in range(1, self.caps[T] + 1))] for T in self.ladder
        }

    def plan(self, lengths: Sequence[int]) -> Plan:
        """The cheapest plan; ties go to the larger group."""
        pads = [self.ladder[bisect_left(self.ladder, n)] for n in lengths]
        order = sorted(range(len(pads)), key=lambda row: -pads[row])
        return split(order, [pads[row] for row in order], self.caps, self.costs)


def split(
    order: Sequence[int],
    lengths: Sequence[int],
    caps: Mapping[int, int],
    costs: Mapping[int, Sequence[float]],
) -> Plan:
    """Split rows, sorted by falling padded length, into the cheapest consecutive groups."""
    count = len(order)
    least: list[float] = [0.0] * (count + 1)
    take = [0] * (count + 1)
    for k in range(count - 1, -1, -1):
        row_costs = costs[lengths[k]]
        best, chosen = float("inf"), 1
        for size in range(1, min(caps[lengths[k]], count - k) + 1):
            value = row_costs[size] + least[k + size]
            if value <= best:
                best, chosen = value, size
        least[k], take[k] = best, chosen
    plan: Plan = []
    k = 0
    while k < count:
        plan.append((lengths[k], sorted(order[k : k + take[k]])))
        k += take[k]
    return plan
