"""A run measures pair by pair until every cell has its verdict or the time is spent."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import pytest

from decider.perf.comparison.pair import Limits
from decider.perf.comparison.run import CONTROL, Run
from decider.perf.verdict import Design, Verdict
from tests.perf.comparison.arms import ENVIRONMENT, FakeArm, cell

CELLS = ["forward/1x64", "forward/2x64", CONTROL]
LOOKS = (10, 14, 20)


class Arms:
    """Starts arms whose times have a process's own noise; head is slower by what `slower` says."""

    def __init__(
        self, slower: dict[str, float] | None = None, noise: float = 0.002, **options: Any
    ):
        self.slower = slower or {}
        self.noise = noise
        self.options = options
        self.random = random.Random(7)
        self.started: list[str] = []

    def __call__(self, side):
        self.started.append(side)
        names = [found for found in self.options.get("cells", CELLS) if isinstance(found, str)]
        own = {name: math.exp(self.random.gauss(0, self.noise)) for name in names}

        def seconds(name: str, _visit: int) -> float:
            factor = 1 + self.slower.get(name, 0) if side == "head" else 1
            return 0.01 * factor * own[name]

        cells = self.options.get("cells", CELLS)
        fails = self.options.get("fails", {}).get(side)
        environment = self.options.get("environments", {}).get(side)
        return FakeArm(cells, seconds, fails=fails, environment=environment)


def verdicts(run: Run) -> dict[str, str]:
    return {name: str(judgement.verdict) for name, judgement in run.judgements.items()}


def test_a_slower_cell_regresses_and_the_others_are_unchanged():
    run = Run(Arms({"forward/1x64": 0.05}), Design(looks=LOOKS))
    run.go()
    assert verdicts(run) == {
        "forward/1x64": "regressed",
        "forward/2x64": "unchanged",
        "mean/forward": "regressed",
        CONTROL: "unchanged",
    }


def test_it_stops_when_every_cell_is_decided():
    run = Run(Arms({"forward/1x64": 0.05, "forward/2x64": 0.05}), Design(looks=LOOKS))
    run.go()
    assert run.looks_taken == [10]
    assert len(run.pairs) == 10


def test_decided_cells_are_left_out_and_the_control_never_is():
    run = Run(Arms({"forward/1x64": 0.05}), Design(looks=LOOKS))
    run.go()
    assert len(run.pairs) == 20
    assert set(run.pairs[9].cells) == {*CELLS, "mean/forward"}
    assert set(run.pairs[10].cells) == {"forward/2x64", CONTROL}


def test_a_decided_cell_goes_on_while_its_mean_is_undecided():
    slower = {"forward/1x64": 0.05, "forward/2x64": 1 / 1.05 - 1}
    run = Run(Arms(slower), Design(looks=LOOKS), coin=bool)
    run.go()
    assert verdicts(run)["forward/1x64"] == "regressed"
    assert verdicts(run)["forward/2x64"] == "improved"
    assert run.judgements["forward/1x64"].decided_at == 10
    assert set(run.pairs[-1].cells) == {*CELLS, "mean/forward"}
    assert verdicts(run)["mean/forward"] == "unchanged"


def test_the_mean_finds_a_change_of_all_cells_that_none_of_them_shows():
    names = [f"forward/{batch}x64" for batch in range(1, 10)]
    slower = dict.fromkeys(names, 0.012)
    arms = Arms(slower, noise=0.015, cells=[*names, CONTROL])
    run = Run(arms, Design(looks=(20,)), coin=bool)
    run.go()
    assert verdicts(run)["mean/forward"] == "regressed"
    assert "regressed" not in [verdicts(run)[name] for name in names]


def test_each_side_leads_as_often_as_the_other():
    run = Run(Arms(), Design(looks=LOOKS), coin=iter([True, False] * 5).__next__)
    run.go()
    firsts = [pair.first for pair in run.pairs]
    assert all(
        {one, other} == {"base", "head"}
        for one, other in zip(firsts[::2], firsts[1::2], strict=True)
    )
    assert Counter(firsts) == {"base": 10, "head": 10}
    assert firsts[::2] == ["head", "base"] * 5  # the coin decides, not a fixed turn


def test_the_coin_is_fair_and_its_own_in_every_run():
    firsts = [Run(Arms(), Design())._first() for _ in range(200)]
    assert 0 < firsts.count("head") < 200  # all alike once in 2**199 runs


def test_the_last_look_ends_it():
    run = Run(Arms(noise=0.2), Design(looks=LOOKS))
    run.go()
    assert run.looks_taken == list(LOOKS)
    assert set(verdicts(run).values()) == {"inconclusive"}


class Clock:
    """Moves on by a second each time it is read."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def test_the_budget_ends_it_with_a_last_look():
    run = Run(Arms(noise=0.2), Design(looks=LOOKS), budget_seconds=37, clock=Clock())
    run.go()
    assert len(run.pairs) in range(11, 14)
    assert run.looks_taken == [10, len(run.pairs)]


def test_a_budget_that_is_too_small_measures_one_pair():
    run = Run(Arms(), Design(looks=LOOKS), budget_seconds=0.5, clock=Clock())
    run.go()
    assert len(run.pairs) == 1
    assert set(verdicts(run).values()) == {"inconclusive"}


def test_an_interrupted_run_goes_on_and_comes_to_the_same():
    whole = Run(Arms({"forward/1x64": 0.05}), Design(looks=LOOKS), coin=bool)
    whole.go()

    arms = Arms({"forward/1x64": 0.05})
    first = Run(arms, Design(looks=LOOKS), coin=bool)

    def interrupt() -> None:
        if len(first.pairs) == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first.go(interrupt)
    second = Run(
        arms,
        Design(looks=LOOKS),
        pairs=first.pairs,
        looks_taken=first.looks_taken,
        environments=first.environments,
        coin=bool,
    )
    second.go()
    assert second.log_ratios == whole.log_ratios
    assert second.judgements == whole.judgements


def test_a_run_does_not_go_on_on_another_machine():
    first = Run(Arms(), Design(looks=(2, 3)))
    first.go()
    environments = {side: {**ENVIRONMENT, "torch": "2.12"} for side in ("base", "head")}
    second = Run(
        Arms(environments=environments),
        Design(looks=(2, 3, 20)),
        pairs=first.pairs,
        looks_taken=first.looks_taken,
        environments=first.environments,
    )
    with pytest.raises(ValueError, match=r"torch was '2\.13' and is '2\.12'"):
        second.go()


def test_a_cell_that_fails_twice_has_failed_and_the_rest_goes_on():
    arms = Arms({"forward/2x64": 0.05}, fails={"head": {"forward/1x64": "error"}})
    run = Run(arms, Design(looks=LOOKS))
    run.go()
    verdict, reason = run.reasons["forward/1x64"]
    assert verdict is Verdict.FAILED
    assert reason == "head: error: forward/1x64 failed"
    assert len(run.pairs[1].failures) == 1
    assert not run.pairs[2].failures
    assert verdicts(run)["forward/2x64"] == "regressed"


def test_a_crash_in_one_cell_does_not_end_the_run():
    arms = Arms({"forward/2x64": 0.05}, fails={"base": {"forward/1x64": "crash"}})
    run = Run(arms, Design(looks=LOOKS))
    run.go()
    assert run.reasons["forward/1x64"][0] is Verdict.FAILED
    assert verdicts(run)["forward/2x64"] == "regressed"


def test_it_gives_up_when_an_arm_never_starts():
    run = Run(Arms(fails={"head": {"start": "crash"}}), Design(looks=LOOKS))
    run.go()
    assert len(run.pairs) == 3
    assert run.cells == {}


def test_other_torch_makes_everything_not_comparable_and_measures_nothing():
    environments = {"head": {**ENVIRONMENT, "torch": "2.12"}}
    run = Run(Arms(environments=environments), Design(looks=LOOKS))
    run.go()
    assert run.differs == [("torch", "2.13", "2.12")]
    assert {verdict for verdict, _ in run.reasons.values()} == {Verdict.NOT_COMPARABLE}
    assert run.reasons["forward/1x64"][1] == "torch: '2.13' on base, '2.12' on head"
    assert len(run.pairs) == 1


def test_another_model_concerns_forwards_only():
    environments = {"head": {**ENVIRONMENT, "engine.model": "small"}}
    cells = ["forward/1x64", CONTROL]
    run = Run(Arms(environments=environments, cells=cells), Design(looks=(2,)))
    run.go()
    assert set(run.reasons) == {"forward/1x64"}


def test_another_backend_is_what_a_comparison_is_for():
    environments = {"head": {**ENVIRONMENT, "engine.backend": "cuda graphs"}}
    run = Run(Arms(environments=environments), Design(looks=(2,)), Limits(rounds=1))
    run.go()
    assert run.reasons == {}
    assert run.differs == [("engine.backend", "eager", "cuda graphs")]


def test_a_cell_that_a_side_lacks_is_not_comparable():
    cells = [cell("forward/1x64", skip="no engine"), "forward/2x64", CONTROL]
    run = Run(Arms(cells=cells), Design(looks=(2,)))
    run.go()
    assert run.reasons["forward/1x64"] == (
        Verdict.NOT_COMPARABLE,
        "base: no engine; head: no engine",
    )


def test_progress_says_what_is_decided():
    shown = []
    run = Run(Arms({"forward/1x64": 0.05}), Design(looks=LOOKS), progress=shown.append)
    run.go()
    assert (shown[-1].pair, shown[-1].decided, shown[-1].cells) == (20, 2, 3)
    assert shown[-1].visits == shown[-1].visits_planned
