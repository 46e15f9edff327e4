"""Whether to change the constant, by what the plans it makes cost.

A constant is a means: what users feel is the time of the plans. So the current constant, the
derived one and the measured table each plan the same held-out queues, every plan is priced with the
measured cells, and the recommendation is what those prices say. Knows measured tables and queues;
how the derived constant came about is no matter here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from decider.costs import MeasuredCost
from decider.grid import BucketGrid
from decider.perf.calibration.pricing import (
    Estimate,
    Plan,
    Price,
    Totals,
    ladder,
    linear,
    measured,
    per_bucket,
    priced,
    totals,
)
from decider.perf.calibration.queues import Stratum

Model = Literal["ladder", "linear"]

MARGIN = 0.01
"""A saving below this share of the time is no reason to change anything."""

SWEEP = (0, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192)
SWEEP_QUEUES = 10

PER_BUCKET = "per-bucket"
TABLE = "measured table"
HELD_OUT = ", held-out cells"

PLANS: dict[str, Callable[[float, BucketGrid, int], Plan]] = {"ladder": ladder, "linear": linear}


@dataclass(frozen=True)
class Recommendation:
    """What to do about the constant.

    Attributes:
        action: keep it, change it, or plan with the measured table instead.
        overhead: the constant to use from now on; with the table, the current one.
        saving: the share of time that this saves over the current constant.
        milliseconds: what it saves per 1,000 rows.
        reason: a sentence for people.
    """

    action: Literal["keep", "change", "table"]
    overhead: int
    saving: Estimate
    milliseconds: float
    reason: str


@dataclass(frozen=True)
class Decision:
    """The prices and what follows from them.

    Attributes:
        model: the cost model whose constant is judged.
        current, derived: the constants; no derived one where the fit was refused.
        totals: prices by policy and stratum.
        sweep: prices by constant, as text, and of the measured table, on fewer queues.
        recommendation: what follows.
    """

    model: Model
    current: int
    derived: int | None
    totals: Totals
    sweep: Totals
    recommendation: Recommendation

    @property
    def policies(self) -> list[str]:
        """The policies that are shown."""
        return [name for name in self.totals.policies if not name.endswith(HELD_OUT)]


@dataclass(frozen=True)
class Setting:
    """What plans are made for: the grid, the most rows of a forward, and the measured table.

    `halves` are tables of two halves of the samples, where the samples can be halved.
    """

    grid: BucketGrid
    max_batch: int
    table: MeasuredCost
    halves: tuple[MeasuredCost, MeasuredCost] | None = None


def queue_count(strata: Sequence[Stratum]) -> int:
    """How many queues `decide` prices, of which it tells its `progress`."""
    return sum(len(s.queues) + min(len(s.queues), SWEEP_QUEUES) for s in strata)


def decide(
    setting: Setting,
    strata: Sequence[Stratum],
    current: int,
    derived: int | None,
    model: Model = "ladder",
    *,
    margin: float = MARGIN,
    random: np.random.Generator,
    progress: Callable[[int], None] = lambda _: None,
) -> Decision:
    """Price the policies on the queues and recommend one.

    Args:
        setting: the grid and the measured cells.
        strata: held-out queues.
        current: the constant in use.
        derived: the constant that the fit gave; None where it was refused.
        model: the cost model that the constant is used with.
        margin: the least saving worth a change, as a share of the time.
        random: for the intervals.
        progress: called with the number of queues done.

    Raises:
        ValueError: a constant below 0 or not finite.
    """
    constants = [current] if derived in (None, current) else [current, derived]
    all_totals = totals(_prices(setting, constants, model), strata, random, progress)
    few = [Stratum(s.mix, s.size, s.queues[:SWEEP_QUEUES]) for s in strata]
    sweep = totals(_sweep_prices(setting, constants, model), few, random, progress)
    return Decision(
        model,
        current,
        derived,
        all_totals,
        sweep,
        recommend(all_totals, model, constants, margin),
    )


def recommend(
    prices: Totals, model: Model, constants: Sequence[int], margin: float
) -> Recommendation:
    """The change that saves at least `margin` beyond doubt, the simplest first.

    Args:
        prices: totals of the policies.
        model: the cost model that the constant is used with.
        constants: the current one and, where there is one, the derived one.
        margin: the least saving worth a change.
    """
    current, candidate = constants[0], constants[-1]
    now, then = f"{model}, {current}", f"{model}, {candidate}"
    saving = prices.saving(then, now)
    worthwhile = candidate != current and _worthwhile(saving, margin)
    best, best_constant = (then, candidate) if worthwhile else (now, current)
    # Cells priced by themselves flatter the plans that were made from them.
    suffix = HELD_OUT if TABLE + HELD_OUT in prices.policies else ""
    if _worthwhile(prices.saving(TABLE + suffix, best + suffix), margin):
        table = prices.saving(TABLE + suffix, now + suffix)
        reason = f"plans from the measured cells beat those of the best constant, {best_constant}"
        return Recommendation(
            "table", current, table, prices.saved_milliseconds(TABLE + suffix, now + suffix), reason
        )
    milliseconds = prices.saved_milliseconds(then, now)
    if worthwhile:
        reason = f"plans made with {candidate} are faster than those made with {current}"
        return Recommendation("change", candidate, saving, milliseconds, reason)
    return Recommendation("keep", current, saving, milliseconds, _no_reason(constants, saving))


def _worthwhile(saving: Estimate, margin: float) -> bool:
    return saving.value >= margin and saving.low > 0


def _no_reason(constants: Sequence[int], saving: Estimate) -> str:
    if len(constants) == 1:
        return "there is no other constant to change to, and the measured table saves too little"
    current, derived = constants
    if saving.value < 0 and saving.high < 0:
        return f"plans made with {derived} are no faster than those made with {current}"
    return f"{current} or {derived} makes no difference to users"


def _prices(setting: Setting, constants: Sequence[int], model: Model) -> dict[str, Price]:
    grid, max_batch, table = setting.grid, setting.max_batch, setting.table
    plans: dict[str, Plan] = {PER_BUCKET: per_bucket(grid, max_batch)}
    for name, planned in PLANS.items():
        plans |= {f"{name}, {n}": planned(n, grid, max_batch) for n in constants}
    plans[TABLE] = measured(table, grid, max_batch)
    prices = {name: priced(plan, table) for name, plan in plans.items()}
    if setting.halves:
        first, second = setting.halves
        one, other = measured(first, grid, max_batch), measured(second, grid, max_batch)
        judged = {f"{model}, {n}": plans[f"{model}, {n}"] for n in constants}
        prices[TABLE + HELD_OUT] = _both(priced(one, second), priced(other, first))
        for name, plan in judged.items():
            prices[name + HELD_OUT] = _both(priced(plan, first), priced(plan, second))
    return prices


def _both(first: Price, second: Price) -> Price:
    return lambda queue: (first(queue) + second(queue)) / 2


def _sweep_prices(setting: Setting, constants: Sequence[int], model: Model) -> dict[str, Price]:
    grid, max_batch, table = setting.grid, setting.max_batch, setting.table
    swept = sorted({*SWEEP, *constants})
    plans = {str(n): PLANS[model](n, grid, max_batch) for n in swept}
    plans[TABLE] = measured(table, grid, max_batch)
    return {name: priced(plan, table) for name, plan in plans.items()}
