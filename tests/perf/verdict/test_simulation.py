"""A small simulation: the error rates are kept, and would not be without the corrections.

The seeds are fixed. The tolerances are binomial: a rate at its level exceeds one in fewer than one
of ten thousand sets of runs.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from decider.perf.verdict import Design, Verdict, judge
from decider.perf.verdict.noise import NOISES
from decider.perf.verdict.simulation import (
    QUIET,
    Task,
    alarms,
    calls_unchanged,
    found,
    holds,
    main,
    share,
    visible_multiple,
    wrong_verdicts,
)

DESIGN = Design()
SMALL = Task(suites=40, cells=40, seed=11)


def most(level, suites):
    """As many hits as chance exceeds at this level in fewer than one of 10,000 sets of suites."""
    return int(stats.binom.isf(1e-4, suites, level))


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_unchanged_suites_seldom_alarm(noise):
    task = replace(SMALL, noise=noise)
    hits = sum(map(alarms, task.judged(0.0, DESIGN.looks, DESIGN)))
    assert hits <= most(DESIGN.alarm_level, task.suites)


def judged_alone(task, change, design):
    """Each suite's cells as if each were the only one; one look."""
    (look,) = design.looks
    for runs in task.batches(look):
        for suite in runs.log_ratios + np.log1p(change):
            alone = [judge({"it": v}, (look,), design, most_flips=2**10) for v in suite.T]
            yield {str(cell): one["it"] for cell, one in enumerate(alone)}


def test_without_the_correction_for_cells_they_would():
    design = Design(alarm_level=0.05, looks=(20,))
    task = Task(suites=60, cells=20, seed=11)
    allowed = most(design.alarm_level, task.suites)
    assert sum(map(alarms, task.judged(0.0, design.looks, design))) <= allowed
    assert sum(map(alarms, judged_alone(task, 0.0, design))) > 2 * allowed


def test_the_correction_for_looks_is_needed_too():
    """At 20%, where a few suites show it: each look at its share, or at the whole level."""
    task = Task(suites=150, cells=4, seed=5, process_noise=0.05)
    kept = replace(DESIGN, alarm_level=0.2)
    uncorrected = replace(DESIGN, alarm_level=0.99)
    hits = [sum(map(alarms, task.judged(0.0, d.looks, d))) for d in (kept, uncorrected)]
    assert hits[0] <= most(0.2, task.suites) < hits[1]


@pytest.mark.parametrize("noise", NOISES[:3], ids=lambda noise: noise.name)
def test_cells_slower_by_the_margin_are_seldom_called_unchanged_and_their_intervals_hold(noise):
    task = replace(SMALL, noise=noise)
    judged = list(task.judged(DESIGN.margin, DESIGN.looks, DESIGN))
    assert sum(map(calls_unchanged, judged)) <= most(DESIGN.equivalence_level, task.suites)
    missed = sum(not holds(one, DESIGN.margin) for one in judged)
    assert missed <= most(DESIGN.alarm_level, task.suites)


def test_without_the_correction_for_cells_they_would_be_called_unchanged():
    design = Design(alarm_level=0.0001, looks=(20,))  # so that no alarm comes first
    task = Task(suites=60, cells=20, seed=11)
    allowed = most(design.equivalence_level, task.suites)
    judged = task.judged(design.margin, design.looks, design)
    assert 0 < sum(map(calls_unchanged, judged)) <= allowed
    assert sum(map(calls_unchanged, judged_alone(task, design.margin, design))) > 2 * allowed


def test_one_percent_in_one_cell_of_a_hundred_is_found_with_twenty_pairs():
    changes = np.zeros(100)
    changes[0] = 0.01
    task = Task(suites=30, cells=100, seed=2, process_noise=QUIET)
    judged = list(task.judged(changes, (10, 14, 20), DESIGN))
    missed = sum(one["0"].verdict is not Verdict.REGRESSED for one in judged)
    assert missed <= most(0.1, task.suites)
    assert missed <= 0.1 * task.suites


def test_the_runs_are_the_same_ones_whenever_they_are_asked_for():
    task = Task(suites=3, cells=2, seed=4)
    first, second = (np.concatenate([r.log_ratios for r in task.batches()]) for _ in range(2))
    assert (first == second).all()
    other = next(replace(task, seed=5).batches()).log_ratios
    assert not (first == other).any()


def test_a_share_is_shown_with_exact_bounds():
    assert share(0, 1000) == "0.0% (0.0% to 0.4%)"
    assert share(50, 100) == "50.0% (39.8% to 60.2%)"


def test_the_tables_are_printed(capsys):
    main(["--suites", "2", "--cells", "2", "--noise", "drift", "t3"])
    printed = capsys.readouterr()
    tables = [line for line in printed.out.splitlines() if line.startswith("| ---")]
    assert len(tables) == 4
    lines = [line for line in printed.out.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in lines[:5]} == {7}
    assert "| normal, and linear drift |" in printed.out
    assert "| all of these |" in printed.out
    assert "| normal |" not in printed.out
    assert "normal, and linear drift, " in printed.err


def test_every_suite_is_counted():
    wrong = wrong_verdicts(Task(suites=27, cells=3, seed=1))
    assert wrong.suites == 27
    assert wrong.alarms + wrong.called_unchanged <= 3
    assert wrong.held >= 25
    assert found(Task(suites=2, cells=3, seed=1), 0.01).startswith("| 1.00% | ")


def test_the_multiple_is_that_of_a_judged_cell():
    """A hundred cells of normal noise, 40 pairs: the median of what judging says."""
    task = Task(suites=3, cells=100, seed=1, process_noise=0.001)
    judged = list(task.judged(0.0, (40,), replace(DESIGN, looks=(10, 14, 20, 28, 40))))
    seen = np.median([one.smallest_visible for suite in judged for one in suite.values()])
    deviation = np.concatenate([runs.log_ratios for runs in task.batches()]).std()
    assert seen / deviation == pytest.approx(visible_multiple(40, 100), rel=0.05)


@pytest.mark.parametrize("arguments", [["--suites", "0"], ["--noise", "pink"]])
def test_impossible_arguments_are_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert "must be at least 1, not 0" in (err := capsys.readouterr().err) or "pink" in err
