"""What failed while arms ran."""

from __future__ import annotations

from decider.perf.report.compared.failures import MOST_SHOWN, Failure, failures, unstarted
from tests.perf.report.comparisons import all_failed, comparison, empty, one_sided, whole


def test_a_failure_is_told_once_with_its_number_of_pairs() -> None:
    found, count = failures(whole())
    assert found == [
        Failure("head", "forward/2x128", "error", "no memory", 2),
        Failure("head", "while it started", "crash", "no memory", 1),
    ]
    assert count == 2


def test_a_long_list_is_cut_and_counted() -> None:
    document = comparison()
    document["pairs"][0]["failures"] = [
        {"arm": "base", "cell": f"c{number}", "kind": "timeout", "message": ""}
        for number in range(MOST_SHOWN + 20)
    ]
    found, count = failures(document)
    assert (len(found), count) == (MOST_SHOWN, MOST_SHOWN + 20)


def test_a_side_that_never_started_is_known() -> None:
    assert unstarted(one_sided()) == ["head"]
    assert unstarted(all_failed()) == []
    assert unstarted(empty()) == [], "nobody tried"
