"""The statistics on grids of known truth: the small version of docs/calibration.md's tables.

Tolerances are binomial: a coverage from 92 to 98%, or alarms at 2%, miss a bound here by chance
once in 1,000 times at most.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from decider.grid import CPU_GRID
from decider.perf.calibration import simulation
from decider.perf.calibration.simulation import (
    LINEAR,
    NOT_LINEAR,
    OUTSIDE,
    Outcome,
    Scenario,
    outcome,
    row,
)

GRIDS = 25
ONCE_IN = 1 / 1_000
OUTCOME = Outcome(667.0, 650.0, 680.0, misfit=False, refused=False)
TRIED = [scenario for scenario in LINEAR if scenario.name not in ("noise 0.5%", "noise 2%")]


def small(scenario: Scenario) -> Scenario:
    return replace(scenario, grid=CPU_GRID) if len(scenario.grid.shapes) > 43 else scenario


@cache
def outcomes(scenario: Scenario) -> list[Outcome]:
    return [outcome(small(scenario), seed) for seed in range(GRIDS)]


def hits(scenario: Scenario) -> int:
    return sum(one.holds_truth for one in outcomes(scenario))


@pytest.mark.parametrize("scenario", TRIED, ids=lambda scenario: scenario.name)
def test_the_interval_holds_the_truth_as_often_as_it_says(scenario):
    assert hits(scenario) >= stats.binom.ppf(ONCE_IN, GRIDS, 0.92)


def test_over_all_scenarios_it_does_not_hold_the_truth_too_often_either():
    count = GRIDS * len(TRIED)
    held = sum(hits(scenario) for scenario in TRIED)
    assert held >= stats.binom.ppf(ONCE_IN, count, 0.92)
    assert held <= stats.binom.isf(ONCE_IN, count, 0.98)


@pytest.mark.parametrize("scenario", TRIED, ids=lambda scenario: scenario.name)
def test_the_estimate_is_near_the_truth_and_a_true_line_rarely_doubted(scenario):
    found = outcomes(scenario)
    assert np.median([abs(one.overhead / 667 - 1) for one in found]) < 0.03
    assert sum(one.misfit for one in found) <= stats.binom.isf(ONCE_IN, GRIDS, 0.02)
    assert not any(one.refused for one in found)


@pytest.mark.parametrize("scenario", NOT_LINEAR, ids=lambda scenario: scenario.name)
def test_a_truth_that_is_no_line_is_not_fitted_over(scenario):
    assert all(outcome(scenario, seed).misfit for seed in range(5))


def test_a_process_that_differs_cell_by_cell_widens_the_interval():
    """One process knows nothing of others, but its scatter about the line tells."""
    scenario = replace(LINEAR[1], name="one process", process_noise=0.02)
    assert hits(scenario) >= stats.binom.ppf(ONCE_IN, GRIDS, 0.9)


def test_a_seed_gives_one_grid():
    assert outcome(small(LINEAR[0]), 3) == outcome(small(LINEAR[0]), 3)
    assert outcome(small(LINEAR[0]), 3) != outcome(small(LINEAR[0]), 4)


def test_a_line_of_the_table_counts_its_grids():
    line = row(LINEAR[0], [outcome(small(LINEAR[0]), seed) for seed in range(3)])
    assert line.startswith("| noise 0.5% | 0.")
    assert line.count("|") == 7


def test_the_command_prints_every_scenario(monkeypatch, capsys):
    monkeypatch.setattr(simulation, "outcome", lambda scenario, seed: OUTCOME)
    monkeypatch.setattr("sys.argv", ["simulation", "--seeds", "2"])
    simulation.main()
    printed = capsys.readouterr().out
    assert printed.count("\n| noise") == len(LINEAR) + len(OUTSIDE) + len(NOT_LINEAR)
    assert "(2 grids a line)" in printed
