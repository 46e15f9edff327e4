"""The recommendation: bad constants are found and priced, harmless ones are left alone."""

from dataclasses import replace

import numpy as np
import pytest

from decider.costs import MeasuredCost
from decider.grid import CPU_GRID, BucketGrid
from decider.perf.calibration.decision import (
    HELD_OUT,
    PER_BUCKET,
    SWEEP,
    TABLE,
    Setting,
    decide,
    queue_count,
)
from decider.perf.calibration.queues import queues_of_mixes
from tests.perf.calibration.measurements import PER_TOKEN

GRID = BucketGrid()
MIXES = ["short", "decision"]


def table(grid, overhead, noise=0.0, seed=0, knee=0):
    random = np.random.default_rng(seed)
    cells = {
        shape: PER_TOKEN
        * (overhead + max(knee, shape.batch * shape.length))
        * float(np.exp(noise * random.normal()))
        for shape in grid.shapes
    }
    return MeasuredCost(cells, grid)


def judged(grid, truth, current, derived, *, mixes=MIXES, queues=8, model="ladder", **fields):
    setting = Setting(grid, 32, table(grid, truth))
    strata = queues_of_mixes(mixes, queues, grid.length_buckets[-1])
    return decide(
        replace(setting, **fields), strata, current, derived, model, random=np.random.default_rng(0)
    )


@pytest.mark.parametrize("bad", [0, 1360])
def test_a_planted_bad_constant_is_found_and_its_cost_stated(bad):
    decision = judged(CPU_GRID, 136, bad, 136)
    found = decision.recommendation
    assert (found.action, found.overhead) == ("change", 136)
    assert found.saving.low > 0.01
    assert found.milliseconds > 0
    assert decision.totals.excess(f"ladder, {bad}", TABLE).value > 0.01


def test_512_and_667_make_no_difference_on_a_gpu_whose_overhead_is_667():
    found = judged(GRID, 667, 512, 667).recommendation
    assert found.action == "keep"
    assert found.overhead == 512
    assert abs(found.saving.value) < 0.005
    assert found.reason == "512 or 667 makes no difference to users"


def test_a_constant_that_is_derived_wrong_is_not_recommended():
    found = judged(CPU_GRID, 136, 136, 5_000).recommendation
    assert found.action == "keep"
    assert found.saving.high < 0
    assert "no faster" in found.reason


def test_where_no_constant_will_do_the_measured_table_is_recommended():
    """Flat up to 1,024 tokens: no line says so, the cells do."""
    flat = table(CPU_GRID, 10, knee=1_024)
    found = judged(CPU_GRID, 0, 512, 400, table=flat).recommendation
    assert found.action == "table"
    assert found.overhead == 512
    assert found.saving.low > 0


def test_without_a_derived_constant_the_table_is_judged_alone():
    decision = judged(CPU_GRID, 136, 136, None)
    assert decision.recommendation.action == "keep"
    assert "no other constant" in decision.recommendation.reason
    assert "ladder, 136" in decision.policies
    assert judged(CPU_GRID, 136, 2_000, None).recommendation.action == "table"


def test_noise_in_the_cells_does_not_recommend_their_table():
    """10% noise: priced by itself the table seems to save, on held-out cells it does not."""
    flattering = table(CPU_GRID, 136, noise=0.1, seed=1)
    halves = tuple(table(CPU_GRID, 136, noise=0.1, seed=seed) for seed in (2, 3))
    decision = judged(CPU_GRID, 136, 136, None, table=flattering, halves=halves)
    by_itself = decision.totals.saving(TABLE, "ladder, 136").value
    held_out = decision.totals.saving(TABLE + HELD_OUT, "ladder, 136" + HELD_OUT).value
    assert by_itself > 0.01 > held_out
    assert decision.recommendation.action == "keep"


def test_held_out_prices_are_no_policies_to_show():
    halves = (table(CPU_GRID, 136), table(CPU_GRID, 136))
    decision = judged(CPU_GRID, 136, 512, 136, halves=halves)
    assert decision.policies == [
        *(PER_BUCKET, "ladder, 512", "ladder, 136", "linear, 512", "linear, 136", TABLE)
    ]


def test_the_linear_model_is_judged_where_asked():
    decision = judged(CPU_GRID, 136, 1_360, 136, model="linear")
    assert decision.recommendation.action in ("change", "table")
    assert decision.totals.saving("linear, 136", "linear, 1360").value > 0.01


def test_the_sweep_is_lowest_near_the_truth_and_flat_there():
    sweep = judged(CPU_GRID, 136, 512, 136).sweep
    excess = {int(n): sweep.excess(n, TABLE).value for n in sweep.policies if n != TABLE}
    assert set(excess) == {*SWEEP, 136, 512}
    assert min(excess, key=excess.get) in (64, 128, 136)
    assert excess[128] < 0.002
    assert excess[8192] > 0.05
    assert min(excess.values()) >= 0


def test_the_same_constant_is_not_judged_twice():
    decision = judged(CPU_GRID, 136, 136, 136)
    assert decision.policies.count("ladder, 136") == 1
    assert decision.recommendation.action == "keep"


def test_the_progress_adds_up():
    done = []
    strata = queues_of_mixes(["short"], 12, 1024)
    decide(
        Setting(CPU_GRID, 32, table(CPU_GRID, 136)),
        strata,
        512,
        136,
        random=np.random.default_rng(0),
        progress=done.append,
    )
    assert sum(done) == queue_count(strata)
