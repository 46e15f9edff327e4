"""A pair samples two arms in turn and gives one log-ratio a cell."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from decider.perf.comparison.pair import CellPair, Limits, Side, measure_pair
from tests.perf.comparison.arms import FakeArm

CELLS = ["forward/1x64", "forward/2x64", "control"]


def arms_of(base: FakeArm, head: FakeArm):
    arms: dict[Side, FakeArm] = {"base": base, "head": head}
    return arms, lambda side: arms[side]


def everything(hellos):
    return [cell["id"] for cell in hellos["base"]["cells"]]


def test_log_ratio_is_head_over_base():
    _, start = arms_of(FakeArm(CELLS), FakeArm(CELLS, lambda _cell, _visit: 0.02))
    pair = measure_pair(1, "base", start, everything, Limits())
    assert pair.complete
    assert [cell.log_ratio for cell in pair.cells.values()] == [pytest.approx(math.log(2))] * 3


@pytest.mark.parametrize("first", ["base", "head"])
def test_each_cell_is_visited_abba_then_baab(first: Side):
    log: list[tuple[str, str, str]] = []
    _, start = arms_of(FakeArm(CELLS, log=log, name="base"), FakeArm(CELLS, log=log, name="head"))
    measure_pair(1, first, start, everything, Limits(rounds=2))
    second = "head" if first == "base" else "base"
    for cell in CELLS:
        visits = [name for name, do, asked in log if do == "sample" and asked == cell]
        assert visits == [first, second, second, first, second, first, first, second]


def test_a_linear_drift_cancels():
    clock = iter(range(1, 1_000))
    drift = lambda _cell, _visit: math.exp(0.01 * next(clock))  # noqa: E731
    _, start = arms_of(FakeArm(["control"], drift), FakeArm(["control"], drift))
    pair = measure_pair(1, "base", start, everything, Limits(rounds=1))
    assert pair.cells["control"].log_ratio == pytest.approx(0, abs=1e-12)


def test_both_arms_take_the_same_number_of_runs():
    _, start = arms_of(FakeArm(CELLS), FakeArm(CELLS))
    pair = measure_pair(1, "base", start, everything, Limits())
    assert {cell.repeats for cell in pair.cells.values()} == {2}


def test_arms_are_pinned_alike_and_closed():
    log: list[tuple[str, str, str]] = []
    arms, start = arms_of(
        FakeArm(CELLS, log=log, name="base"), FakeArm(CELLS, log=log, name="head")
    )
    measure_pair(1, "base", start, everything, Limits(), cpus=[3])
    assert Counter(name for name, do, _ in log if do == "pin") == {"base": 1, "head": 1}
    assert all(arm.closed for arm in arms.values())


def test_an_error_costs_its_cell_only():
    _, start = arms_of(FakeArm(CELLS), FakeArm(CELLS, fails={"forward/1x64": "error"}))
    pair = measure_pair(1, "base", start, everything, Limits())
    assert set(pair.cells) == {"forward/2x64", "control"}
    assert not pair.complete
    [failure] = pair.failures
    assert (failure.arm, failure.cell, failure.kind) == ("head", "forward/1x64", "error")


@pytest.mark.parametrize("kind", ["crash", "timeout"])
def test_what_was_measured_before_a_crash_is_kept(kind):
    class Dies(FakeArm):
        asked = 0

        def ask(self, message, seconds):
            if message["do"] == "sample":
                Dies.asked += 1
                if Dies.asked > 8:  # in the middle of the second round
                    self._fails = {message["cell"]: kind}
            return super().ask(message, seconds)

    arms, start = arms_of(FakeArm(CELLS), Dies(CELLS))
    pair = measure_pair(1, "base", start, everything, Limits(rounds=2))
    assert len(pair.failures) == 1
    assert pair.failures[0].kind == kind
    assert not pair.complete
    assert 0 < len(pair.cells) < 3  # all but the cell it died in
    assert all(len(cell.blocks["base"]) % 2 == 0 for cell in pair.cells.values())
    assert all(arm.closed for arm in arms.values())


def test_an_arm_that_does_not_start_is_a_failure_of_its_start():
    _, start = arms_of(FakeArm(CELLS), FakeArm(CELLS, fails={"start": "crash"}))
    pair = measure_pair(1, "base", start, everything, Limits())
    assert pair.cells == {}
    assert [(failure.arm, failure.cell) for failure in pair.failures] == [("head", None)]


def test_arms_are_closed_when_the_caller_refuses_them():
    arms, start = arms_of(FakeArm(CELLS), FakeArm(CELLS))

    def refuse(_hellos):
        raise ValueError("another machine")

    with pytest.raises(ValueError, match="another machine"):
        measure_pair(1, "base", start, refuse, Limits())
    assert all(arm.closed for arm in arms.values())


def test_rounds_at_a_low_clock_are_dropped_whole():
    cell = CellPair(
        1,
        {"base": [[1.0], [1.0], [1.0], [1.0]], "head": [[9.0], [1.0], [2.0], [2.0]]},
        {"base": [1_900, 1_900, 1_900, 1_900], "head": [1_000, 1_900, 1_900, 1_900]},
    )
    assert cell.dropped == [0]
    assert cell.log_ratio == pytest.approx(math.log(2))


def test_a_cell_whose_rounds_were_all_dropped_has_no_ratio():
    low_head = {"base": [1_900.0, 1_900.0], "head": [1_900.0, 100.0]}
    cell = CellPair(1, {"base": [[1.0], [1.0]], "head": [[1.0], [1.0]]}, low_head)
    assert cell.log_ratio is None
