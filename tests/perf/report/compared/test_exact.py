"""Exact figures of a comparison."""

from __future__ import annotations

from decider.perf.report.compared.exact import exact_figures
from tests.perf.report.comparison_parts import exact
from tests.perf.report.comparisons import comparison, empty, one_sided, whole


def test_what_changed_is_listed_as_the_document_orders_it() -> None:
    found = exact_figures(whole())
    assert found.sentence == "Of 1,234 exact figures, 1 rose and 1 fell."
    assert found.changes == (
        ("cost", "decision, 32 rows, ladder", "1000", "1010", "+1.0%"),
        ("forwards", "short, 8 rows, linear", "4", "3", "−25.0%"),
    )


def test_only_sums_that_changed_are_listed() -> None:
    assert exact_figures(whole()).totals == (
        ("cost", "decision, 32 rows, ladder", "90000", "91000", "+1.1%"),
    )


def test_nothing_changed_is_one_sentence() -> None:
    found = exact_figures(comparison(exact=exact([])))
    assert found.sentence == "Nothing changed in 1,234 exact figures."
    assert found.changes == found.totals == ()


def test_none_were_compared_is_one_too() -> None:
    assert exact_figures(empty()).sentence == "Exact figures were not compared."


def test_one_side_alone_is_told() -> None:
    found = exact_figures(one_sided())
    assert found.sentence == "No exact figure was there on both sides. Only base has 84 more."
    assert found.notes == ("head never started",)


def test_a_list_that_was_cut_says_so() -> None:
    document = comparison(exact=exact() | {"rises": 5_000})
    assert "5,000 rose and 1 fell. The first 2 are listed." in exact_figures(document).sentence


def test_a_change_from_zero_is_a_difference() -> None:
    change = {"figure": "empty rows", "queue": "q", "base": 0, "head": 12}
    (line,) = exact_figures(comparison(exact=exact([change]))).changes
    assert line[2:] == ("0", "12", "+12")
