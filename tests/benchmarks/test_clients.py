"""The suite's clients: how many rows are under way, and what a latency is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks.clients import Served, closed_loop, open_loop
from benchmarks.virtual_time import run_virtually


class Server:
    """Answers each row after as many seconds as it says."""

    def __init__(self) -> None:
        self.open = self.most = 0
        self.seen: list[Any] = []

    async def submit(self, rows: Sequence[Any]) -> list[Any]:
        self.open += 1
        self.most = max(self.most, self.open)
        self.seen += rows
        await asyncio.sleep(rows[0])
        self.open -= 1
        return list(rows)


@pytest.mark.parametrize(("clients", "most"), [(1, 1), (3, 3), (50, 10)])
def test_a_closed_loop_sends_every_row_once_and_keeps_its_clients_busy(clients, most):
    server = Server()
    rows = [1.0] * 10
    served = run_virtually(closed_loop(server.submit, rows, clients))
    assert server.seen == rows
    assert server.most == most
    assert served.latencies == pytest.approx([1] * 10)
    assert served.seconds == pytest.approx(-(-10 // clients))


def test_an_open_loop_counts_from_the_schedule():
    served = run_virtually(open_loop(Server().submit, [5.0, 1.0, 2.0], [0.5, 1.0, 7.0]))
    assert served.latencies == pytest.approx([5, 1, 2])
    assert served.seconds == pytest.approx(9)


@pytest.mark.parametrize("answers", [[], [1, 2]])
def test_a_lost_or_doubled_answer_ends_the_run(answers):
    async def submit(_: Sequence[Any]) -> list[Any]:
        return answers

    for loop in (closed_loop(submit, [1.0], 1), open_loop(submit, [1.0], [0.0])):
        with pytest.raises(ExceptionGroup) as ended:
            run_virtually(loop)
        assert f"{len(answers)} answers to one row" in str(ended.value.exceptions[0])


def test_an_error_of_the_server_ends_the_run():
    async def submit(_: Sequence[Any]) -> list[Any]:
        raise OSError("gone")

    with pytest.raises(ExceptionGroup) as ended:
        run_virtually(closed_loop(submit, [1.0] * 9, 4))
    assert "gone" in str(ended.value.exceptions[0])


def test_seconds_per_1000_rows():
    assert Served(seconds=3, latencies=[0.1] * 20).seconds_per_1000_rows == 150
