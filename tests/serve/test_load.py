"""Loads in virtual time: when requests leave, what latency counts from, what becomes of each."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from decider.engine.rows import Row
from decider.serve.answer_check import NumberedRows, numbered_answer
from decider.serve.load import ClosedLoop, Load, OpenLoop, Outcome, Records
from decider.serve.targets import RejectedError, TargetError
from decider.serve.traffic import Arrival, RowName
from tests.serve.virtual_time import run_in_virtual_time


class Server:
    """Answers each request after `seconds`, unless `refuse` raises for its number."""

    def __init__(self, seconds: float, refuse: Callable[[int], None] = lambda _: None) -> None:
        self.seconds = seconds
        self.refuse = refuse
        self.asked: list[float] = []
        self.open = 0

    async def score(self, rows: Sequence[Row]) -> list[Any]:
        self.asked.append(asyncio.get_running_loop().time())
        self.refuse(len(self.asked) - 1)
        self.open += 1
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.open -= 1
        return [numbered_answer(row) for row in rows]


def names() -> Any:
    return itertools.repeat(RowName(3, 0))


def at(*times: float) -> list[Arrival]:
    return [Arrival(time, (RowName(3, 0), RowName(2, 0))) for time in times]


def run(server: Any, loop: Any, **options: Any) -> tuple[Records, NumberedRows]:
    check = NumberedRows()

    async def main() -> Records:
        clock = asyncio.get_running_loop().time
        return await Load(server, check, clock=clock, **options).run(loop)

    return run_in_virtual_time(main()), check


def outcomes(records: Records) -> Counter[Outcome]:
    return Counter(Outcome(value) for value in records.outcomes)


def test_an_open_loop_sends_on_schedule_whatever_the_server_does():
    server = Server(seconds=10)
    records, check = run(server, OpenLoop(at(0.5, 1, 1, 4), 5))
    assert server.asked == pytest.approx([0.5, 1, 1, 4])
    assert list(records.scheduled) == [0.5, 1, 1, 4]
    assert list(records.ended) == pytest.approx([10.5, 11, 11, 14])
    assert records.seconds == 5
    assert list(records.rows) == [2] * 4
    assert check.tally().right == 8


class Stalled(Server):
    """Blocks the whole process while it takes the first request, as no server should."""

    async def score(self, rows: Sequence[Row]) -> list[Any]:
        if not self.asked:
            asyncio.get_running_loop().now += 3
        return await super().score(rows)


def test_a_late_request_counts_from_its_schedule_and_its_lag_is_kept():
    records, _ = run(Stalled(seconds=1), OpenLoop(at(0, 1, 2, 5), 6))
    assert list(records.lag) == pytest.approx([0, 2, 1, 0])
    latencies = [end - start for start, end in zip(records.scheduled, records.ended, strict=True)]
    assert latencies == pytest.approx([4, 3, 2, 1])


def test_a_closed_loop_keeps_so_many_requests_under_way_and_no_more():
    server = Server(seconds=2)
    records, check = run(server, ClosedLoop(3, names(), seconds=7, rows_per_request=2))
    assert server.asked == pytest.approx([0] * 3 + [2] * 3 + [4] * 3 + [6] * 3)
    assert max(records.ended) == pytest.approx(8)
    assert set(records.lag) == {0}
    assert check.tally().right == 24


def test_every_kind_of_end_is_told_apart():
    def refuse(number: int) -> None:
        if number == 1:
            raise RejectedError("full", retry_after=1)
        if number == 2:
            raise TargetError("broken")

    server = Server(1, refuse)
    records, _ = run(server, OpenLoop(at(0, 1, 2, 3), 4))
    ends = [Outcome.ANSWERED, Outcome.REJECTED, Outcome.FAILED, Outcome.ANSWERED]
    assert list(records.outcomes) == ends
    assert records.errors == {"full": 1, "broken": 1}


def test_a_request_without_an_answer_is_lost_after_its_time_out_and_given_up():
    server = Server(seconds=1_000)
    records, _ = run(server, OpenLoop(at(0, 1), 2), timeout=5)
    assert outcomes(records) == {Outcome.LOST: 2}
    assert list(records.ended) == pytest.approx([5, 6])
    assert server.open == 0


@pytest.mark.parametrize("count", [0, 1, 3])
def test_too_few_or_too_many_answers_are_a_failure(count):
    class Odd(Server):
        async def score(self, rows: Sequence[Row]) -> list[Any]:
            return [numbered_answer(rows[0])] * count

    records, _ = run(Odd(0), OpenLoop(at(0), 1))
    assert outcomes(records) == {Outcome.FAILED: 1}
    assert records.errors == {f"{count} answers to 2 rows": 1}


def test_swapped_answers_are_wrong():
    class Swapping(Server):
        async def score(self, rows: Sequence[Row]) -> list[Any]:
            return (await super().score(rows))[::-1]

    _, check = run(Swapping(0), OpenLoop(at(0, 0, 0), 1))
    assert (check.tally().right, check.tally().wrong) == (0, 6)


def test_a_refused_client_waits_as_it_was_told_but_a_second_at_most():
    def refuse(number: int) -> None:
        if number < 2:
            raise RejectedError("full", retry_after=(0.25, 60)[number])

    server = Server(5, refuse)
    run(server, ClosedLoop(1, names(), seconds=3))
    assert server.asked == pytest.approx([0, 0.25, 1.25])


def test_a_client_of_a_dead_server_does_not_spin():
    def refuse(_: int) -> None:
        raise TargetError("connection refused")

    server = Server(0, refuse)
    records, _ = run(server, ClosedLoop(1, names(), seconds=2))
    assert 10 < len(server.asked) <= 21
    assert records.errors["connection refused"] == len(server.asked)


def test_an_interrupt_ends_the_run_and_keeps_what_happened():
    server = Server(seconds=2)

    async def main() -> Records:
        clock = asyncio.get_running_loop().time
        load = Load(server, NumberedRows(), clock=clock)
        task = asyncio.create_task(load.run(OpenLoop(at(0, 1, 2, 3, 4), 5)))
        await asyncio.sleep(2.5)
        task.cancel()
        return await task

    records = run_in_virtual_time(main())
    assert records.interrupted
    assert outcomes(records) == {Outcome.ANSWERED: 1, Outcome.CUT: 2}
    assert records.seconds == pytest.approx(2.5)
    assert server.open == 0


def test_a_trace_that_breaks_off_is_an_error_and_leaves_nothing_running():
    server = Server(seconds=100)

    def broken() -> Any:
        yield from at(0, 1)
        raise ValueError("trace.csv:3: no number")

    with pytest.raises(ValueError, match=r"trace\.csv:3"):
        run(server, OpenLoop(broken(), 5))
    assert server.open == 0


def test_progress_is_shown_while_it_runs_and_while_the_last_answers_are_waited_for():
    shown = []
    run(Server(seconds=1.8), OpenLoop(at(0, 1), 1.2), progress=shown.append)
    assert shown[0].elapsed == pytest.approx(0.5)
    assert shown[0].requests == {Outcome.CUT: 1}
    assert shown[-1].elapsed == pytest.approx(2.5)
    assert shown[-1].requests == {Outcome.CUT: 1, Outcome.ANSWERED: 1}
    assert shown[-1].seconds == 1.2


def test_messages_are_counted_but_not_without_bound():
    def refuse(number: int) -> None:
        raise TargetError(f"error {number}")

    records, _ = run(Server(0, refuse), OpenLoop(at(*range(100)), 100))
    assert len(records.errors) == 20
    assert outcomes(records) == {Outcome.FAILED: 100}


def test_a_trace_that_takes_long_to_open_delays_no_request():
    def slow() -> Any:
        asyncio.get_running_loop().now += 60
        yield from at(0, 1)

    records, _ = run(Server(0.5), OpenLoop(slow(), 2))
    assert list(records.lag) == pytest.approx([0, 0])


@pytest.mark.parametrize("options", [{"clients": 0}, {"rows_per_request": 0}, {"seconds": 0}])
def test_a_closed_loop_refuses_nonsense(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        ClosedLoop(**{"clients": 1, "rows": names(), "seconds": 1, **options})


def test_a_load_refuses_a_time_out_of_nothing():
    with pytest.raises(ValueError, match="timeout"):
        Load(Server(0), NumberedRows(), timeout=0)
