"""The accounts of a plan: whether it keeps the invariants, and where its cost goes.

Knows rows, groups and costs; knows nothing of how a plan is found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from decider.costs import CostModel, rounded

Group = tuple[int, list[int]]
"""The rows of one forward: its padded length and the indices of its rows, in arrival order."""


@dataclass(frozen=True)
class WasteLedger:
    """Where the cost of a plan goes, in token-units. The parts sum exactly to `cost`.

    Attributes:
        real_tokens: tokens of the rows themselves.
        length_rounding: from each row's length up to its own length bucket.
        co_batch_padding: from each row's bucket up to the length its forward runs at.
        empty_rows: padded rows that hold nothing, up to the batch bucket.
        overhead: what the forwards cost beyond B*T. With a measured cost this is whatever the
            table says, and below 0 where a cell runs faster per token than the largest one.
        forwards: how many forwards, a count.
    """

    real_tokens: int
    length_rounding: int
    co_batch_padding: int
    empty_rows: int
    overhead: float
    forwards: int

    @property
    def padded_tokens(self) -> int:
        """B*T summed over the forwards."""
        return self.real_tokens + self.length_rounding + self.co_batch_padding + self.empty_rows

    @property
    def cost(self) -> float:
        """The plan's cost, in token-units."""
        return self.padded_tokens + self.overhead


def explain(
    plan: Sequence[Group],
    lengths: Sequence[int],
    pad_len: Callable[[int], int],
    cost: CostModel,
) -> WasteLedger:
    """The waste ledger of a plan under a cost model.

    Args:
        plan: groups over the rows of `lengths`.
        lengths: tokens of every row, in arrival order.
        pad_len: padded length of a row of n tokens.
        cost: prices the forwards and says at which shape each really runs.

    Raises:
        ValueError: the plan misses a row, holds one twice, or does not cover one.
    """
    check_plan(plan, lengths, pad_len)
    real = rounding = padding = empty = 0
    overhead: float = 0
    for T, rows in plan:
        shape = cost.shape(len(rows), T)
        tokens = sum(lengths[row] for row in rows)
        bucketed = sum(pad_len(lengths[row]) for row in rows)
        real += tokens
        rounding += bucketed - tokens
        padding += len(rows) * shape.length - bucketed
        empty += (shape.batch - len(rows)) * shape.length
        overhead += rounded(cost.cost(len(rows), T)) - shape.batch * shape.length
    return WasteLedger(int(real), int(rounding), int(padding), int(empty), overhead, len(plan))


def check_plan(
    plan: Sequence[Group],
    lengths: Sequence[int],
    pad_len: Callable[[int], int],
    cap: Callable[[int], int] | None = None,
) -> None:
    """Check that every row is in exactly one group, that T covers it, and that caps are kept.

    Args:
        plan: groups over the rows of `lengths`.
        lengths: tokens of every row, in arrival order.
        pad_len: padded length of a row of n tokens.
        cap: rows one forward may take at padded length T, where that is to be checked.

    Raises:
        ValueError: an invariant is broken; the message names the group and the row.
    """
    seen: set[int] = set()
    for number, (T, rows) in enumerate(plan):
        if not rows:
            raise ValueError(f"group {number} is empty")
        if cap is not None and len(rows) > cap(T):
            raise ValueError(f"group {number}: {len(rows)} rows at {T} tokens, cap {cap(T)}")
        if any(later <= earlier for earlier, later in pairwise(rows)):
            raise ValueError(f"group {number}: rows {rows} are not in arrival order")
        for row in rows:
            if not 0 <= row < len(lengths):
                raise ValueError(f"group {number}: no row {row} in a queue of {len(lengths)}")
            if row in seen:
                raise ValueError(f"group {number}: row {row} is in a group already")
            if pad_len(lengths[row]) > T:
                raise ValueError(
                    f"group {number}: row {row} of {lengths[row]} tokens does not fit {T}"
                )
            seen.add(row)
    if len(seen) < len(lengths):
        missing = next(row for row in range(len(lengths)) if row not in seen)
        raise ValueError(f"row {missing} is in no group")
