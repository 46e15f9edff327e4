"""Which runs count, what is in their figures, and the exit code that each ends with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from decider.serve.answer_check import Tally
from decider.serve.load import Outcome, Records
from decider.serve.load_report import LoadReport, load_report


def records(
    count: int = 100,
    *,
    latency: float = 0.2,
    lag: Any = lambda _: 0.0,
    outcome: Any = lambda _: Outcome.ANSWERED,
    rows: int = 1,
    cpu_share: float = 0.3,
) -> Records:
    """A request each tenth of a second."""
    found = Records(seconds=count / 10, cpu_share=cpu_share)
    for number in range(count):
        at = number / 10
        place = found.leave(at, at + lag(number), rows)
        found.end(place, at + latency, outcome(number))
    return found


def report(found: Records, tally: Tally | None = None, **options: Any) -> LoadReport:
    return load_report(found, tally or Tally(right=100), {"mix": "short"}, **options)


def test_a_good_run_has_its_figures():
    good = report(records(rows=3))
    assert good.exit_code == 0
    assert good.measured_seconds == 10
    assert good.offered_rows_per_second == pytest.approx(30)
    assert good.rows_per_second == pytest.approx(3 * 99 / 10)  # the last ends after sending did
    assert good.drain_seconds == pytest.approx(0.1)
    assert [found.percent for found in good.latencies][:2] == [50, 90]
    assert good.latencies[0].value == pytest.approx(0.2)
    assert good.requests == {"answered": 100, "rejected": 0, "failed": 0, "lost": 0, "cut": 0}


def test_latency_counts_from_the_schedule():
    late = report(records(latency=0.2, lag=lambda _: 0.009))
    assert late.latencies[0].value == pytest.approx(0.2)


def test_the_warm_up_is_counted_and_not_measured():
    slow_start = records(outcome=lambda n: Outcome.REJECTED if n < 50 else Outcome.ANSWERED)
    found = report(slow_start, warm_up=5)
    assert found.requests["rejected"] == 50
    assert found.measured_seconds == 5
    assert found.offered_rows_per_second == pytest.approx(10)
    assert found.rows_per_second == pytest.approx(9.8)


@pytest.mark.parametrize(
    ("late", "latency", "void"),
    [
        (1, 0.05, False),  # 1% may be late
        (2, 0.05, True),
        (2, 0.5, False),  # 40 ms are less than a tenth of the median latency
    ],
)
def test_a_run_whose_requests_left_late_is_void(late, latency, void):
    found = report(records(latency=latency, lag=lambda n: 0.04 if n < late else 0))
    assert bool(found.schedule.void) is void
    assert found.exit_code == (3 if void else 0)
    assert (found.rows_per_second is None) is void
    assert (found.latencies == ()) is void
    assert found.schedule.lag_worst_seconds == pytest.approx(0.04)


def test_how_late_a_request_may_leave_is_for_the_caller_to_say():
    late = records(latency=0.05, lag=lambda _: 0.04)
    assert "100.0% of the requests left more than 10 ms late" in report(late).schedule.void[0]
    assert report(late, late_ms=50).schedule.void == ()


def test_a_generator_that_is_itself_the_bottleneck_voids_the_run():
    busy = records(cpu_share=0.95)
    assert "95% of a processor" in report(busy).schedule.void[0]
    assert report(busy, own_process=False).schedule.void == ()


def test_nothing_measured_is_void_and_not_a_good_run():
    assert "no request was measured" in report(Records(seconds=10)).schedule.void[0]
    assert report(records(), warm_up=11).exit_code == 3


@pytest.mark.parametrize(
    ("end", "tally", "code"),
    [
        (Outcome.REJECTED, Tally(), 0),
        (Outcome.FAILED, Tally(), 1),
        (Outcome.LOST, Tally(), 1),
        (Outcome.ANSWERED, Tally(wrong=1), 1),
        (Outcome.ANSWERED, Tally(unverified=9, alike=3), 0),
    ],
)
def test_exit_codes(end, tally, code):
    found = records(outcome=lambda n: end if n == 7 else Outcome.ANSWERED)
    assert report(found, tally).exit_code == code


def test_wrong_answers_outweigh_a_missed_schedule_and_an_interrupt_everything():
    late = records(lag=lambda _: 5.0)
    assert report(late, Tally(wrong=1)).exit_code == 1
    late.interrupted = True
    assert report(late, Tally(wrong=1)).exit_code == 130


def test_the_report_is_strict_json_even_of_nothing():
    for found in (records(), Records()):
        text = json.dumps(report(found).to_dict(), allow_nan=False)
        assert json.loads(text)["schema"] == "decider.load/1"
