"""Probes of an arm beside the engine's."""

from __future__ import annotations

import time

import pytest

from benchmarks.arm_probes import CallProbe, DelayedProbe, control_probe, planning_probe


class Clock:
    """Moves on when it is told to, and a little at each reading."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 0.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_a_call_is_timed_over_its_repeats():
    clock = Clock()
    calls = []

    def call() -> None:
        calls.append(None)
        clock.now += 0.5

    probe = CallProbe({"a": call}, clock)
    assert probe.sample("a", 4) == pytest.approx(0.5)
    assert len(calls) == 4
    assert probe.cells() == ["a"]


class Steady:
    """Every run takes a second."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.runs = 0

    def cells(self):
        return ["a"]

    def sample(self, cell, repeats):
        self.clock.now += repeats
        self.runs += repeats
        return 1.0


@pytest.mark.parametrize("delay", [0.05, 0.5])
def test_a_delay_makes_every_run_slower_by_its_share(delay):
    clock = Clock(step=1e-6)
    probe = DelayedProbe(Steady(clock), delay, clock)
    assert probe.sample("a", 3) == pytest.approx(1 + delay, rel=1e-4)
    assert probe.cells() == ["a"]


def test_a_delay_runs_what_it_slows_as_often():
    clock = Clock(step=1e-3)
    steady = Steady(clock)
    DelayedProbe(steady, 0.01, clock).sample("a", 3)
    assert steady.runs == 3


def test_plans_of_frozen_queues_are_timed():
    probe = planning_probe([("one", ("decision", 32, "ladder")), ("two", ("short", 8, "linear"))])
    assert list(probe.cells()) == ["one", "two"]
    assert all(probe.sample(cell, 2) > 0 for cell in probe.cells())


def test_the_control_runs_without_decider():
    pytest.importorskip("torch")
    probe = control_probe("control", "cpu", time.perf_counter)
    assert probe.sample("control", 1) > 0
