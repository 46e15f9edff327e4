"""The head of a comparison."""

from __future__ import annotations

import shlex

import pytest

from decider.perf.report.compared.headline import SELF_TEST, headline
from tests.perf.report.comparison_parts import outcome, self_test
from tests.perf.report.comparisons import comparison, empty, void, whole
from tests.perf.report.results import COMMIT, OLDER


def test_the_outcome_its_sentence_and_the_counts_of_all_verdicts() -> None:
    found = headline(whole())
    assert (found.kind, found.outcome) == ("regression", "Regression")
    assert found.sentence == "5 of 24 cells regressed."
    assert found.counts == (
        ("▲", "regressed", 5),
        ("▼", "improved", 2),
        ("=", "unchanged", 13),
        ("?", "inconclusive", 2),
        ("≠", "not comparable", 1),
        ("✕", "failed", 1),
    )


@pytest.mark.parametrize(
    ("sentence", "line"),
    [
        ("Worse: of 8 cells 1 regressed.", "Worse: of 8 cells 1 regressed."),
        ("Regression in 1 cell.", "Regression in 1 cell."),
        ("1 of 8 cells regressed.", "Regression: 1 of 8 cells regressed."),
        ("Nothing worse.", "Regression: Nothing worse."),
    ],
)
def test_one_line_tells_the_outcome_once(sentence: str, line: str) -> None:
    found = headline(comparison(outcome=outcome((), "regression", sentence)))
    assert found.line == line


def test_the_line_of_a_void_run_has_no_sentence() -> None:
    assert headline(void()).line == "Void: no verdict of this run counts"


def test_cells_are_counted_and_not_believed() -> None:
    document = whole()
    document["outcome"]["counts"]["regressed"] = 0
    assert headline(document).counts[0] == ("▲", "regressed", 5)


@pytest.mark.parametrize("by", ["void", "outcome"])
def test_a_void_run_is_void_whichever_field_says_so(by: str) -> None:
    document = void() if by == "void" else comparison(outcome=outcome((), "void", "Void."))
    found = headline(document)
    assert found.kind == "void"
    assert found.outcome == "Void: no verdict of this run counts"
    assert found.void


def test_what_the_sides_are_and_where_they_differ() -> None:
    found = headline(whole())
    assert [(side.role, side.name, side.commit) for side in found.sides] == [
        ("base", "main", OLDER),
        ("head", "feature", COMMIT),
    ]
    assert found.differs == (("torch", "2.10", "2.11"),)


def test_machine_pairs_budget_and_levels_are_told() -> None:
    facts = dict(headline(whole()).facts)
    assert facts["pairs"] == "14, of them 14 complete"
    assert facts["planned looks, in pairs"] == "10, 14, 20, 28, 40"
    assert facts["taken looks"] == "10, 14"
    assert (facts["time"], facts["budget"]) == ("5.0 min", "10.0 min")
    assert facts["margin of unchanged"] == "±2.0%"
    assert facts["control"] == "unchanged (+0.10%)"
    assert (facts["cpu"], facts["torch"], facts["gpu"]) == ("A CPU", "2.11", "not known")


def test_an_empty_comparison_has_a_head() -> None:
    facts = dict(headline(empty()).facts)
    assert (facts["pairs"], facts["taken looks"]) == ("0, of them 0 complete", "none")
    assert (facts["budget"], facts["control"]) == ("none", "not measured")


def test_the_self_test_with_its_bounds() -> None:
    found = headline(whole())
    assert found.self_test.sentence == (
        "Self-test: 0 of 20 unchanged runs raised an alarm (at most 13.9% at 95% confidence); "
        "a delay of 5% was found in 10 of 10 (at least 74.1% at 95% confidence)."
    )
    assert found.self_test.source == (
        "reference, commit 0f0e0d0c, profile quick, 2026-11-29T12:00:00+00:00"
    )
    assert len(found.commands) == 1


@pytest.mark.parametrize("field", ["machine", "profile"])
def test_a_self_test_of_something_else_says_so(field: str) -> None:
    document = comparison(self_test=self_test(**{field: "other"}))
    assert "of another machine or profile" in headline(document).self_test.sentence


def test_without_a_self_test_the_command_for_one_is_given() -> None:
    found = headline(empty())
    assert "has no self-test" in found.self_test.sentence
    assert found.commands[1] == SELF_TEST


def test_a_command_is_shown_word_by_word() -> None:
    (command,) = headline(comparison(command="decider compare main 'a b' --pairs 5")).commands
    assert shlex.split(command) == ["decider", "compare", "main", "a b", "--pairs", "5"]


@pytest.mark.parametrize(
    "command",
    [
        "",
        "rm -rf ~",
        "decider",
        "sudo decider compare",
        "decider compare 'a",
        "decider compare 'a\nb'",
    ],
)
def test_another_command_is_replaced_by_what_is_known_to_be_harmless(command: str) -> None:
    assert headline(comparison(command=command)).commands == (
        "decider compare 0f0e0d0c0b0a 1a2b3c4d5e6f",
    )


def test_a_shell_gets_nothing_but_words() -> None:
    (command,) = headline(comparison(command="decider compare $(reboot) a;halt")).commands
    assert command == "decider compare '$(reboot)' 'a;halt'"
