"""What a comparison comes to: a word, a sentence and an exit status."""

from __future__ import annotations

import pytest

from decider.perf.comparison.document import VERDICTS
from decider.perf.comparison.outcome import exit_status, outcome


def cells(*verdicts: str):
    return [
        {"id": f"forward/{n + 1}x64", "verdict": verdict, "change": 0.01 * (n + 1)}
        for n, verdict in enumerate(verdicts)
    ]


@pytest.mark.parametrize(
    ("verdicts", "name", "status"),
    [
        (["unchanged", "improved"], "nothing worse", 0),
        (["unchanged", "regressed"], "regression", 1),
        (["regressed", "inconclusive", "failed"], "regression", 1),
        (["unchanged", "inconclusive"], "undecided", 2),
        (["unchanged", "inconclusive", "not comparable"], "not comparable", 2),
        (["unchanged", "not comparable", "failed"], "failed", 2),
        ([], "failed", 2),
    ],
)
def test_the_worst_of_the_verdicts_decides(verdicts, name, status):
    found = outcome(cells(*verdicts), None, 0)
    assert (found["name"], found["exit_status"]) == (name, status)
    assert set(found["counts"]) == set(VERDICTS)
    assert sum(found["counts"].values()) == len(verdicts)


def test_a_plan_that_costs_more_is_a_regression_by_itself():
    found = outcome(cells("unchanged"), None, 2)
    assert found["exit_status"] == 1
    assert found["sentence"] == "Worse: of 1 cell 1 unchanged, 2 plans cost more."


def test_figures_that_failed_are_a_failure_however_good_the_times_are():
    found = outcome(cells("unchanged"), None, 0, exact_failed=True)
    assert (found["name"], found["exit_status"]) == ("failed", 2)
    assert found["sentence"] == "Failed: of 1 cell 1 unchanged, exact figures failed."


def test_a_void_run_decides_nothing():
    found = outcome(cells("regressed"), "the control moved", 1)
    assert (found["name"], found["exit_status"]) == ("void", 2)
    assert found["sentence"] == "Void: the control moved."


def test_the_sentence_names_what_moved_the_most_first():
    found = outcome(cells("regressed", "regressed", "unchanged"), None, 0)
    assert found["sentence"] == (
        "Worse: of 3 cells 2 regressed (forward/2x64 +2.0%, forward/1x64 +1.0%), 1 unchanged."
    )


def test_the_sentence_stays_short():
    found = outcome(cells(*["regressed"] * 9), None, 0)
    assert "and 6 more" in found["sentence"]


@pytest.mark.parametrize(
    ("fail_on", "expected"),
    [
        ("undecided", {"regression": 1, "undecided": 2, "failed": 2, "void": 2}),
        ("failed", {"regression": 1, "undecided": 0, "failed": 2, "void": 2}),
        ("regression", {"regression": 1, "undecided": 0, "failed": 0, "void": 0}),
        ("never", {"regression": 0, "undecided": 0, "failed": 0, "void": 0}),
    ],
)
def test_fail_on_chooses(fail_on, expected):
    found = {name: exit_status({"outcome": {"name": name}}, fail_on) for name in expected}
    assert found == expected
    assert exit_status({"outcome": {"name": "nothing worse"}}, fail_on) == 0
