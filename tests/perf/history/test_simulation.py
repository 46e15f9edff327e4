"""What docs/history.md promises, on fewer series than its tables, with binomial tolerances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from decider.perf.history import simulation
from decider.perf.history.changes import find_changes
from decider.perf.history.simulation import DRIFTS, NOISES, STEPS, STILL, Scenario, is_near

SERIES = 250
UNLIKELY = 1e-4
"""A chance below this of so bad a count, were the promise kept, fails a test."""


def _named(scenarios: tuple[Scenario, ...], name: str) -> Scenario:
    return next(scenario for scenario in scenarios if scenario.name == name)


@pytest.mark.parametrize(
    ("noise", "most"), [("normal", 0.02), ("t, 3 df", 0.02), ("3% spikes", 0.05)]
)
def test_series_without_a_change_seldom_show_one(noise: str, most: float) -> None:
    scenario = _named(STILL, f"{noise}, 100 commits")
    false = sum(bool(find_changes(values)) for values in scenario.all(SERIES))
    assert stats.binomtest(false, SERIES, most, "greater").pvalue > UNLIKELY


def test_a_step_of_twice_the_noise_is_found_within_five_commits() -> None:
    scenario = _named(STEPS, "normal, 2 x noise, 5 of 100 commits")
    found = sum(
        any(is_near(scenario, change.most_likely) for change in find_changes(values))
        for values in scenario.all(SERIES)
    )
    assert stats.binomtest(found, SERIES, 0.70, "less").pvalue > UNLIKELY


@pytest.mark.parametrize("where", ["still going on", "35 commits ago"])
def test_a_drift_of_half_a_percent_over_thirty_commits_is_found_as_one(where: str) -> None:
    scenario = _named(DRIFTS, f"noise 1%, {where}")
    kinds = [{change.kind for change in find_changes(values)} for values in scenario.all(40)]
    assert all("drift" in own for own in kinds)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_simulated_series_are_what_they_say(noise: simulation.Noise) -> None:
    still = Scenario("still", noise, 5_000)
    stepped = Scenario("still", noise, 5_000, step=2, after=2_000)
    random = [np.random.default_rng(0) for _ in range(2)]
    ratio = stepped.simulate(random[0]) / still.simulate(random[1])
    assert ratio[:3_000] == pytest.approx(1)
    assert ratio[3_000:] == pytest.approx(np.exp(0.02))


def test_a_simulated_drift_rises_by_its_share_each_commit_and_then_rests() -> None:
    drift = Scenario("drift", lambda random, count: np.zeros(count), 10, 0.01, 0, 4, 0.1, 3)
    expected = [1, 1, 1, 1.1, 1.1**2, 1.1**3, 1.1**4, 1.1**4, 1.1**4, 1.1**4]
    assert drift.simulate(np.random.default_rng(0)) == pytest.approx(expected)


@pytest.mark.parametrize("arguments", [[], ["--detectors"]])
def test_the_tables_are_printed(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["simulation", "--series", "1", *arguments])
    monkeypatch.setattr(simulation, "FOLDER", 2)
    simulation.main()
    printed = capsys.readouterr().out
    tables = [table.strip().splitlines() for table in printed.split("\n**") if table.strip()]
    assert len(tables) == (1 if arguments else 4)
    for table in tables:
        assert len({line.count("|") for line in table if line.startswith("|")}) == 1
        assert "normal" in printed
