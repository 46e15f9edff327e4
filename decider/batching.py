"""Batch planning: which queued rows share one forward.

Python and numpy only. `plan_queue` is what the server calls: a grid, a cost model, the row lengths,
and the cheapest of all partitions comes back. `plan_batches` is the same planner behind the two
callables of the engines that came before the grid, and `per_bucket_groups` is their grouping, the
baseline that no plan exceeds. The dynamic program is in `decider.partition`, the accounts of a plan
in `decider.ledger`; the theory is in docs/planner.md.

A plan is a list of groups `(T, [row indices])`: the rows of one forward at padded length T.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import index
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from decider.costs import CostModel, checked_overhead, rounded
from decider.disposal import closed_steps
from decider.grid import BucketGrid
from decider.ledger import Group, WasteLedger, check_plan, explain
from decider.partition import Backward, Steps, cheapest_sizes, cheapest_sizes_of_few

__all__ = [
    "DEFAULT_MERGE_OVERHEAD_TOKENS",
    "Group",
    "Planner",
    "WasteLedger",
    "batch_cost",
    "check_plan",
    "explain",
    "group_cap",
    "per_bucket_groups",
    "plan_batches",
    "plan_cost",
    "plan_queue",
]

DEFAULT_MERGE_OVERHEAD_TOKENS = 512

FEW_ROWS = 256
"""Below this many rows plain lists sort them into buckets sooner than numpy does."""

Lengths = Sequence[int] | npt.NDArray[np.integer[Any]]


def group_cap(T: int, max_rows: Callable[[int], int], max_batch: int) -> int:
    """Rows one forward may take at padded length `T`: the engine's cap and the server's."""
    return max(1, min(int(max_batch), int(max_rows(T))))


def batch_cost(size: int, T: int, overhead: float = DEFAULT_MERGE_OVERHEAD_TOKENS) -> float:
    """Linear cost, in token-units, of one forward of `size` rows padded to `T`."""
    return overhead + size * T


def plan_cost(
    groups: Iterable[Group],
    overhead: float = DEFAULT_MERGE_OVERHEAD_TOKENS,
    *,
    cost: CostModel | None = None,
) -> float:
    """Cost of a plan, in token-units: linear with `overhead`, or by `cost` where one is given."""
    if cost is None:
        return sum(batch_cost(len(rows), T, overhead) for T, rows in groups)
    return sum(rounded(cost.cost(len(rows), T)) for T, rows in groups)


def per_bucket_groups(
    lengths: Lengths,
    pad_len: Callable[[int], int],
    max_rows: Callable[[int], int],
    max_batch: int,
) -> list[Group]:
    """Rows of the same padded length share forwards, filled to the cap in arrival order."""
    pads = _checked_pads(_checked_lengths(lengths).tolist(), pad_len)
    return _exact_groups(range(len(pads)), pads, max_rows, max_batch)


def plan_batches(
    lengths: Lengths,
    pad_len: Callable[[int], int],
    max_rows: Callable[[int], int],
    max_batch: int,
    overhead: float = DEFAULT_MERGE_OVERHEAD_TOKENS,
    mergeable: Callable[[int], bool] | None = None,
    *,
    cost: CostModel | None = None,
) -> list[Group]:
    """The cheapest partition of queued rows into forwards, for an engine given by callables.

    Args:
        lengths: tokens of every queued row, in arrival order.
        pad_len: padded length of a row of n tokens, at least n.
        max_rows: rows the engine takes in one forward at padded length T.
        max_batch: the server's own cap on the rows of a forward.
        overhead: fixed cost of a forward, in token-units, of the linear cost.
        mergeable: false for a row that may share a forward only with rows of its own padded length.
        cost: the cost model; by default `overhead + rows * T`. With a model the cheapest is taken
            over all partitions even where caps grow or costs fall with T: a group may then run at
            any padded length that occurs in the queue.

    Returns:
        Groups `(T, rows)`. Every row is in exactly one group; T covers the group's rows, which keep
        arrival order; a group holds at most `group_cap(T, max_rows, max_batch)` rows.

    Raises:
        ValueError: a length that is not a whole number of at least 1, a padded length below its
            row's (both name the row and the value), a negative or non-finite overhead, or a cost
            that falls as rows are added.
    """
    overhead = checked_overhead(overhead)
    lengths = _checked_lengths(lengths).tolist()
    pads = _checked_pads(lengths, pad_len)
    caps = {T: group_cap(T, max_rows, max_batch) for T in set(pads)}
    staying = [] if mergeable is None else [i for i, n in enumerate(lengths) if not mergeable(n)]
    kept = set(staying)
    merging = _by_length((row for row in range(len(pads)) if row not in kept), pads)
    if cost is None:
        groups = _exact_groups(staying, pads, max_rows, max_batch)
        steps = {T: _linear_steps(overhead, T, caps[T]) for T in merging}
    else:
        groups = []
        for T, rows in _by_length(staying, pads).items():
            groups += _cheapest_groups(rows, [(T, len(rows))], closed_steps(cost, {T: caps[T]}))
        steps = closed_steps(cost, {T: caps[T] for T in merging})
    return groups + _cheapest_groups(*_longest_first(merging), steps)


class Planner:
    """Plans of queues for one grid, cost model and cap.

    What each group size costs at each length bucket is worked out once, so keep a planner for as
    long as its grid and costs hold.

    Args:
        grid: the captured shapes. Rows above its last bucket share forwards only with rows of their
            own padded length.
        cost: what a forward costs; read once, so do not change it afterwards.
        max_batch: the server's own cap on the rows of a forward.

    Raises:
        ValueError: a cost that falls as rows are added or is not finite, or a length bucket at
            which it knows no cost.
    """

    def __init__(self, grid: BucketGrid, cost: CostModel, max_batch: int = 32) -> None:
        self.grid = grid
        self.cost = cost
        self.max_batch = max_batch
        caps = {T: self._cap(T) for T in grid.length_buckets}
        self._steps = closed_steps(cost, caps)
        self._widest = max(steps.sizes[-1] for steps in self._steps.values())
        self._backward: dict[int, list[Backward]] = {}
        # The bucket of every row length, since a look-up is the fastest way to pad.
        ladder = np.array(grid.length_buckets)
        self._bucket_array = np.searchsorted(ladder, np.arange(ladder[-1] + 1)).astype(np.uint16)
        self._bucket_list: list[int] = self._bucket_array.tolist()

    def plan(self, lengths: Lengths) -> list[Group]:
        """The cheapest of all partitions of the rows into forwards.

        Returns and raises as `plan_batches` does; each group runs at the captured shape
        `cost.shape(len(rows), T)`.
        """
        if len(lengths) < FEW_ROWS:
            try:
                buckets = list(map(self._bucket_list.__getitem__, lengths))
            except (IndexError, TypeError):  # a row above the last bucket, or no whole number
                return self._plan_any(lengths)
            if buckets and min(lengths) > 0:
                return self._plan_few(buckets)
        return self._plan_any(lengths)

    def _plan_few(self, buckets: list[int]) -> list[Group]:
        """The plan of rows given by their length buckets' indices."""
        width = min(len(buckets), self._widest)
        backward = self._backward.get(width)
        if backward is None:
            steps = self._steps.values()
            backward = self._backward[width] = [step.backward(width) for step in steps]
        order = sorted(range(len(buckets)), key=buckets.__getitem__, reverse=True)
        falling = [buckets[row] for row in order]
        rows = [backward[bucket] for bucket in falling[::-1]]
        sizes = cheapest_sizes_of_few(rows, self._widest)
        ladder = self.grid.length_buckets
        groups = []
        start = 0
        for size, times in sizes:
            for _ in range(times):
                group = order[start : start + size]
                bucket = falling[start]
                if buckets[group[-1]] != bucket:
                    group.sort()
                groups.append((self._steps[ladder[bucket]].length_of[size], group))
                start += size
        return groups

    def _plan_any(self, lengths: Lengths) -> list[Group]:
        checked = _checked_lengths(lengths)
        ladder = self.grid.length_buckets
        buckets = self._bucket_array[np.minimum(checked, ladder[-1])]
        buckets[checked > ladder[-1]] = len(ladder)
        counts = np.bincount(buckets, minlength=len(ladder) + 1).tolist()
        # Stable, and a radix sort on so small a type: arrival order is kept inside a bucket.
        order: list[int] = np.argsort(len(ladder) - buckets, kind="stable").tolist()
        above = counts.pop()
        groups = self._plan_longer(order[:above], checked)
        del order[:above]
        runs = [(T, count) for T, count in zip(ladder, counts, strict=True) if count]
        return groups + _cheapest_groups(order, runs[::-1], self._steps)

    def _plan_longer(self, rows: list[int], lengths: npt.NDArray[np.int64]) -> list[Group]:
        """The plan of rows above the last bucket, each padded length for itself."""
        pads = {row: self.grid.pad_len(int(lengths[row])) for row in rows}
        groups: list[Group] = []
        for T, members in _by_length(rows, pads).items():
            steps = closed_steps(self.cost, {T: self._cap(T)})
            groups += _cheapest_groups(members, [(T, len(members))], steps)
        return groups

    def _cap(self, T: int) -> int:
        return group_cap(T, self.grid.max_rows, self.max_batch)


def plan_queue(
    lengths: Lengths, grid: BucketGrid, cost: CostModel, max_batch: int = 32
) -> list[Group]:
    """The cheapest of all partitions of a queue into forwards: `Planner(...).plan(lengths)`.

    The planner is kept from call to call where grid and cost are hashable.
    """
    try:
        hash(cost)
    except TypeError:
        return Planner(grid, cost, max_batch).plan(lengths)
    return _kept_planner(grid, cast(Hashable, cost), max_batch).plan(lengths)


@lru_cache(maxsize=32)
def _kept_planner(grid: BucketGrid, cost: Any, max_batch: int) -> Planner:
    return Planner(grid, cost, max_batch)


Sorted = tuple[list[int], list[tuple[int, int]]]
"""Rows by falling padded length, in arrival order inside one; and (length, count) of each run."""


def _linear_steps(overhead: float, T: int, cap: int) -> Steps:
    """Not closed and not rounded: `plan_batches` with an overhead keeps its every tie."""
    costs = tuple(batch_cost(size, T, overhead) for size in range(1, cap + 1))
    exact = isinstance(overhead, int) or (overhead < 2**32 and (overhead * 1024).is_integer())
    return Steps(tuple(range(1, cap + 1)), costs, (T,) * cap, exact)


def _cheapest_groups(
    order: list[int], runs: list[tuple[int, int]], steps: Mapping[int, Steps]
) -> list[Group]:
    sizes = cheapest_sizes([(count, steps[T]) for T, count in reversed(runs)])
    groups: list[Group] = []
    start = end = 0
    length_of: dict[int, int] = {}
    following = iter(runs)
    for size, times in sizes:
        while times:
            if start >= end:
                T, count = next(following)
                length_of = steps[T].length_of
                end += count
                continue
            inside = min(times, (end - start) // size)
            if inside:  # groups of one length are in arrival order already
                length, stop = length_of[size], start + inside * size
                groups += [(length, order[i : i + size]) for i in range(start, stop, size)]
            else:
                inside, stop = 1, start + size
                groups.append((length_of[size], sorted(order[start:stop])))
            start = stop
            times -= inside
    return groups


def _longest_first(rows_by_length: Mapping[int, list[int]]) -> Sorted:
    lengths = sorted(rows_by_length, reverse=True)
    order = [row for T in lengths for row in rows_by_length[T]]
    return order, [(T, len(rows_by_length[T])) for T in lengths]


def _by_length(
    rows: Iterable[int], pads: Sequence[int] | Mapping[int, int]
) -> dict[int, list[int]]:
    members: dict[int, list[int]] = {}
    for row in rows:
        members.setdefault(pads[row], []).append(row)
    return members


def _exact_groups(
    rows: Iterable[int], pads: Sequence[int], max_rows: Callable[[int], int], max_batch: int
) -> list[Group]:
    groups = []
    for T, members in _by_length(rows, pads).items():
        cap = group_cap(T, max_rows, max_batch)
        groups += [(T, members[k : k + cap]) for k in range(0, len(members), cap)]
    return groups


def _checked_lengths(lengths: Lengths) -> npt.NDArray[np.int64]:
    if isinstance(lengths, np.ndarray) and lengths.ndim == 1 and lengths.dtype.kind in "iu":
        checked = lengths.astype(np.int64, copy=False)
    else:
        try:  # unlike numpy's own conversions, the array module takes whole numbers only
            checked = np.array(array("q", lengths), dtype=np.int64)
        except (TypeError, OverflowError):
            row = next(row for row, n in enumerate(lengths) if not _is_whole(n))
            raise ValueError(f"row {row}: length {lengths[row]!r} is not a whole number") from None
    if len(checked) and checked.min() < 1:
        row = int(np.argmax(checked < 1))
        raise ValueError(f"row {row}: length {checked[row]} is below 1")
    return checked


def _is_whole(n: Any) -> bool:
    try:
        return index(n) < 2**63
    except TypeError:
        return False


def _checked_pads(lengths: Lengths, pad_len: Callable[[int], int]) -> list[int]:
    pads = [pad_len(n) for n in lengths]
    for row, (n, T) in enumerate(zip(lengths, pads, strict=True)):
        if n > T:
            raise ValueError(f"row {row}: padded length {T} is below its length {n}")
    return pads
