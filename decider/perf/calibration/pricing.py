"""What the plans of several policies cost on the same queues, and what one saves over another.

Every plan is priced with measured cells, whatever model made it. Totals are resampled over the
queues of a stratum, the same queues for all policies, so that intervals compare plans and not
queues. Knows plans and prices; takes no decision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from decider.batching import Planner, per_bucket_groups
from decider.costs import LadderCost, LinearCost, MeasuredCost
from decider.grid import BucketGrid
from decider.ledger import Group
from decider.perf.calibration.fit import LEVEL
from decider.perf.calibration.queues import Queue, Stratum
from decider.perf.calibration.replication import Floats

DRAWS = 1_000

Plan = Callable[[Queue], list[Group]]
Price = Callable[[Queue], float]


class Estimate(NamedTuple):
    """A value with its interval over the queues."""

    value: float
    low: float
    high: float


def per_bucket(grid: BucketGrid, max_batch: int) -> Plan:
    """The baseline: rows of one length bucket share forwards."""
    return lambda queue: per_bucket_groups(queue, grid.pad_len, grid.max_rows, max_batch)


def linear(overhead: float, grid: BucketGrid, max_batch: int) -> Plan:
    """Planned with `overhead + rows * T`."""
    return Planner(grid, LinearCost(overhead), max_batch).plan


def ladder(overhead: float, grid: BucketGrid, max_batch: int) -> Plan:
    """Planned with `overhead + B * T`, B the captured batch bucket."""
    return Planner(grid, LadderCost(overhead, grid), max_batch).plan


def measured(table: MeasuredCost, grid: BucketGrid, max_batch: int) -> Plan:
    """Planned with the measured cells themselves."""
    return Planner(grid, table, max_batch).plan


def priced(plan: Plan, table: MeasuredCost) -> Price:
    """Milliseconds of a queue's plan by a measured table."""

    def price(queue: Queue) -> float:
        cost = sum(table.cost(len(rows), T) for T, rows in plan(queue))
        return cost * table.milliseconds_per_token

    return price


@dataclass(frozen=True)
class Totals:
    """Milliseconds of all queues of each stratum, by policy.

    Attributes:
        policies: the policies' names.
        strata: the strata.
        rows: rows in the queues of each stratum.
        milliseconds: an array [strata, policies].
        drawn: the same over resampled queues, [draws, strata, policies].
    """

    policies: tuple[str, ...]
    strata: tuple[Stratum, ...]
    rows: Floats
    milliseconds: Floats
    drawn: Floats

    def of(self, mix: str, size: int | None = None) -> Totals:
        """The totals of one mix alone, or of one mix and size."""
        kept = [i for i, s in enumerate(self.strata) if s.mix == mix and size in (None, s.size)]
        return Totals(
            self.policies,
            tuple(self.strata[i] for i in kept),
            self.rows[kept],
            self.milliseconds[kept],
            self.drawn[:, kept],
        )

    def excess(self, policy: str, best: str) -> Estimate:
        """By which share the policy's plans take longer; every stratum weighs the same."""
        value, drawn = self._log_ratio(policy, best)
        return _estimate(np.expm1(value), np.expm1(drawn))

    def saving(self, policy: str, other: str) -> Estimate:
        """The share of `other`'s time that the policy saves; every stratum weighs the same."""
        value, drawn = self._log_ratio(policy, other)
        return _estimate(-np.expm1(value), -np.expm1(drawn))

    def saved_milliseconds(self, policy: str, other: str) -> float:
        """Milliseconds saved per 1,000 rows; every stratum weighs the same."""
        p, q = self.policies.index(policy), self.policies.index(other)
        saved = (self.milliseconds[:, q] - self.milliseconds[:, p]) / self.rows
        return float(1_000 * saved.mean())

    def _log_ratio(self, policy: str, other: str) -> tuple[Floats, Floats]:
        p, q = self.policies.index(policy), self.policies.index(other)
        value = np.log(self.milliseconds[:, p] / self.milliseconds[:, q]).mean()
        drawn = np.log(self.drawn[:, :, p] / self.drawn[:, :, q]).mean(axis=1)
        return np.asarray(value), np.asarray(drawn)


def totals(
    prices: Mapping[str, Price],
    strata: Sequence[Stratum],
    random: np.random.Generator,
    progress: Callable[[int], None] = lambda _: None,
) -> Totals:
    """Price every queue with every policy.

    Args:
        prices: by policy.
        strata: the queues, none of them empty.
        random: draws the resampled queues.
        progress: called with the number of queues done, stratum by stratum.
    """
    milliseconds, drawn, rows = [], [], []
    for stratum in strata:
        costs = np.array([[price(q) for price in prices.values()] for q in stratum.queues])
        count = len(stratum.queues)
        taken = random.multinomial(count, np.full(count, 1 / count), size=DRAWS)
        milliseconds.append(costs.sum(axis=0))
        drawn.append(taken @ costs)
        rows.append(float(stratum.size * count))
        progress(count)
    return Totals(
        tuple(prices),
        tuple(strata),
        np.array(rows),
        np.array(milliseconds),
        np.stack(drawn, axis=1),
    )


def _estimate(value: Floats, drawn: Floats) -> Estimate:
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Estimate(float(value) + 0.0, float(low) + 0.0, float(high) + 0.0)  # no negative zero
