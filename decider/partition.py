"""The dynamic program that splits sorted rows into the cheapest consecutive groups.

It sees runs of equally long rows and, for each run, what groups of each size cost there: no grid,
no cost model, no row indices. `decider.batching` prepares its input and turns sizes back into rows;
docs/planner.md proves why consecutive groups are enough.

With D[j] the least cost of the j shortest rows, and T_j the length of the j-th,

    D[j] = min over sizes b of  D[max(0, j - b)] + c(b, T_j).

Inside a run the recurrence looks back at most W, the widest size. Let p be the size that costs
least per row. Once D[i] = D[i - p] + c(p) holds for W consecutive i of the run, both sides of the
recurrence are shifted alike, so it holds to the end of the run and the chosen sizes repeat with
period p. The rest of the run is then written down, not computed, and the work depends on the number
of runs, not on the number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat, takewhile

Backward = tuple[tuple[int, float], ...]
"""(-size, cost) of each size worth trying: `least[-size]` is the cost of the rows it leaves."""


@dataclass(frozen=True)
class Steps:
    """What a group costs whose longest row has one padded length.

    Up to `sizes[i]` rows cost `costs[i]` and run at `lengths[i]`, which may be longer where that is
    cheaper. Sizes rise and so do costs. `exact` says that sums of these costs are never
    rounded, which the shortcut along a run needs.
    """

    sizes: tuple[int, ...]
    costs: tuple[float, ...]
    lengths: tuple[int, ...]
    exact: bool = True

    @cached_property
    def length_of(self) -> dict[int, int]:
        """The padded length at which a group of each size runs."""
        return dict(zip(self.sizes, self.lengths, strict=True))

    @cached_property
    def cheapest_per_row(self) -> tuple[int, float]:
        """The size, the larger where two tie, that costs least per row, and its cost."""
        pairs = zip(self.sizes, self.costs, strict=True)
        return min(pairs, key=lambda pair: (pair[1] / pair[0], -pair[0]))

    def backward(self, rows: int) -> Backward:
        """The sizes that `rows` rows have a use for: up to the first that holds them all."""
        pairs = list(zip(self.sizes, self.costs, strict=True))
        useful = sum(size < rows for size in self.sizes) + 1
        return tuple((-size, cost) for size, cost in pairs[:useful])


Run = tuple[int, Steps]
"""Rows of one padded length: how many there are, and what groups of them cost."""


def cheapest_sizes(runs: Sequence[Run]) -> list[tuple[int, int]]:
    """The sizes of the cheapest groups, from the longest rows to the shortest.

    Args:
        runs: the rows by rising padded length.

    Returns:
        (size, how many groups of it come in a row). The sizes add up to the number of rows or,
        where the last group does not fill its size, to more. Ties go to the larger group: the same
        cost with one forward fewer.
    """
    reach = 1 + max((steps.sizes[-1] for _, steps in runs), default=0)
    rows = sum(count for count, _ in runs)
    least: list[float] = [0] * reach
    choice: list[int] = []
    for count, steps in runs:
        _extend_run(least, choice, count, steps, steps.backward(rows), reach)
    return _walk_back(choice)


def cheapest_sizes_of_few(rows: Sequence[Backward], reach: int) -> list[tuple[int, int]]:
    """`cheapest_sizes` for rows given one by one, without the shortcut: sooner done for a few.

    Args:
        rows: what groups cost whose longest row this is, by rising padded length.
        reach: at least the largest size of any row.
    """
    least: list[float] = [0] * reach
    choice: list[int] = []
    _extend(least, choice, rows)
    return _walk_back(choice)


def _extend(least: list[float], choice: list[int], rows: Iterable[Backward]) -> None:
    """Take in rows by the recurrence as it stands.

    `least` ends with D of the rows so far, after as many zeros as the widest size reaches back, so
    that a group may stay unfilled; `choice` holds, negated, the size of each D's last group.
    """
    for backward in rows:
        best = math.inf
        chosen = 0
        for back, cost in backward:
            value = least[back] + cost
            if value <= best:
                best = value
                chosen = back
        least.append(best)
        choice.append(chosen)


def _extend_run(
    least: list[float],
    choice: list[int],
    count: int,
    steps: Steps,
    backward: Backward,
    reach: int,
) -> None:
    """Take in a run until a whole window of it repeats, and write down the rest."""
    window = -backward[-1][0]
    period, rise = steps.cheapest_per_row
    wanted = window
    while steps.exact and count > wanted:
        _extend(least, choice, repeat(backward, wanted))
        count -= wanted
        repeats = (least[-i] == least[-i - period] + rise for i in range(1, window + 1))
        wanted = window - sum(takewhile(bool, repeats))
        if wanted == 0:
            _repeat(least, choice, count, period, rise, reach)
            return
    _extend(least, choice, repeat(backward, count))


def _repeat(
    least: list[float], choice: list[int], count: int, period: int, rise: float, reach: int
) -> None:
    pattern = choice[-period:]
    times, rest = divmod(count, period)
    choice.extend(pattern * times)
    choice.extend(pattern[:rest])
    last = least[-period:]
    least.extend(  # of D only what later rows can look back at
        last[i % period] + rise * (i // period + 1) for i in range(max(0, count - reach), count)
    )


def _walk_back(choice: list[int]) -> list[tuple[int, int]]:
    sizes: list[tuple[int, int]] = []
    left = len(choice)
    while left > 0:
        chosen = choice[left - 1]
        times = 0
        while left > 0 and choice[left - 1] == chosen:
            left += chosen
            times += 1
        sizes.append((-chosen, times))
    return sizes
