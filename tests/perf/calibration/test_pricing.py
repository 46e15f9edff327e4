"""Prices: the plans of every policy on the same queues, by measured cells."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.batching import plan_queue
from decider.costs import LadderCost, MeasuredCost
from decider.grid import CPU_GRID
from decider.perf.calibration.pricing import (
    ladder,
    linear,
    measured,
    per_bucket,
    priced,
    totals,
)
from decider.perf.calibration.queues import Stratum, queues_of_mixes
from tests.perf.calibration.measurements import PER_TOKEN

TABLE = MeasuredCost(
    {shape: PER_TOKEN * (136 + shape.batch * shape.length) for shape in CPU_GRID.shapes}, CPU_GRID
)
lengths = st.lists(st.integers(1, 1024), min_size=1, max_size=40)


def prices(overhead=512):
    plans = {
        "per-bucket": per_bucket(CPU_GRID, 32),
        "linear": linear(overhead, CPU_GRID, 32),
        "ladder": ladder(overhead, CPU_GRID, 32),
        "best": measured(TABLE, CPU_GRID, 32),
    }
    return {name: priced(plan, TABLE) for name, plan in plans.items()}


def flat(*costs):
    """Totals of two policies with the given costs, one queue of one row each."""
    queues = tuple([i] for i in range(len(costs)))
    lookup = {"a": lambda q: costs[q[0]][0], "b": lambda q: costs[q[0]][1]}
    return totals(lookup, [Stratum("m", 1, queues)], np.random.default_rng(0))


@given(queue=lengths)
def test_no_policy_beats_plans_made_from_the_table_that_prices_them(queue):
    best = prices()["best"](queue)
    assert all(price(queue) >= best - 1e-9 for price in prices().values())


@given(queue=lengths)
def test_a_price_is_the_measured_time_of_the_forwards(queue):
    plan = plan_queue(queue, CPU_GRID, LadderCost(512, CPU_GRID))
    slowly = 0.0
    for T, rows in plan:
        slowly += min(ms for (b, t), ms in TABLE.cells.items() if b >= len(rows) and t >= T)
    assert prices()["ladder"](queue) == pytest.approx(slowly, rel=1e-5)


def test_excess_and_saving_are_two_views_of_one_ratio():
    found = flat((2.0, 1.0), (4.0, 2.0))
    assert found.excess("a", "b") == pytest.approx((1.0, 1.0, 1.0))
    assert found.saving("b", "a") == pytest.approx((0.5, 0.5, 0.5))
    assert found.saved_milliseconds("b", "a") == pytest.approx(1500)


def test_a_policy_saves_nothing_over_itself():
    assert flat((2.0, 1.0)).saving("a", "a") == (0, 0, 0)


def test_an_interval_comes_from_queues_that_differ():
    value, low, high = flat(*((1.0 + i % 2, 1.0) for i in range(40))).excess("a", "b")
    assert value == pytest.approx(0.5)
    assert low < 0.45
    assert high > 0.55


def test_every_mix_and_size_weighs_the_same():
    strata = [Stratum("long", 1, ([1000],)), Stratum("short", 1, ([1],) * 50)]
    lookup = {
        "a": lambda q: q[0] * (4.0 if q[0] == 1000 else 1.0),
        "b": lambda q: float(q[0]),
    }
    found = totals(lookup, strata, np.random.default_rng(0))
    assert found.excess("a", "b").value == pytest.approx(1.0)  # the geometric mean of 4 and 1
    assert found.of("long").excess("a", "b").value == pytest.approx(3.0)
    assert found.of("short").excess("a", "b").value == pytest.approx(0.0)


def test_a_stratum_is_picked_by_mix_and_size():
    strata = queues_of_mixes(["short", "chat"], 2, 1024)
    found = totals(prices(), strata, np.random.default_rng(0))
    assert len(found.of("chat").strata) == 5
    assert [(s.mix, s.size) for s in found.of("chat", 16).strata] == [("chat", 16)]


def test_progress_counts_every_queue():
    done = []
    strata = queues_of_mixes(["short"], 3, 1024)
    totals(prices(), strata, np.random.default_rng(0), done.append)
    assert sum(done) == sum(len(s.queues) for s in strata)
