"""Rounds: every policy under every load, in turn and back; ratios within a round."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from benchmarks.clients import Served
from benchmarks.policies import PER_BUCKET
from benchmarks.rounds import latencies, one_round, ratios, rounds
from benchmarks.serving import Run

POLICIES = {PER_BUCKET: 2.0, "ladder": 1.5}
ROWS = {("short", "closed 64"): [0] * 8, ("short", "open 70%"): [0] * 4}


def finished(seconds: float, rows: int) -> Run:
    return Run(Served(seconds, [seconds] * rows), seconds / 2, 1, 2, 1, {"engine": seconds})


class Server:
    def __init__(self) -> None:
        self.asked: list[tuple[float, str, int, float]] = []

    async def run(self, policy: float, load: str, rows: list[Any], rate: float) -> Run:
        self.asked.append((policy, load, len(rows), rate))
        return finished(policy, len(rows))


def test_a_round_runs_everything_once_and_the_open_loop_at_a_share_of_capacity():
    server, seen = Server(), []
    runs = asyncio.run(
        one_round(server, POLICIES, ROWS, finished=lambda key, run: seen.append(key))
    )
    assert seen == list(runs)
    assert len(runs) == 4
    rate = pytest.approx(0.7 * 8 / 2.0)  # per-bucket answered 8 rows in 2 s
    assert server.asked == [
        (2.0, "closed 64", 8, 0),
        (1.5, "closed 64", 8, 0),
        (2.0, "open 70%", 4, rate),
        (1.5, "open 70%", 4, rate),
    ]


def test_a_round_can_run_backwards():
    server = Server()
    asyncio.run(one_round(server, POLICIES, ROWS, backwards=True))
    assert [policy for policy, *_ in server.asked] == [1.5, 2.0, 1.5, 2.0]


def test_an_open_loop_needs_its_capacity():
    with pytest.raises(KeyError, match="closed 64"):
        asyncio.run(one_round(Server(), POLICIES, {("short", "open 70%"): [0]}))


@pytest.mark.parametrize(
    ("budget", "most", "expected"),
    [(100.0, 3, 3), (0.0, 3, 1), (35.0, 50, 3), (39.9, 50, 3), (40.0, 50, 4), (35.0, 2, 2)],
)
def test_rounds_go_on_while_another_fits(budget, most, expected):
    now, order = [0.0], []

    async def run_round(backwards: bool) -> dict[Any, Run]:
        order.append(backwards)
        now[0] += 10
        return {("short", "closed 8", "ladder"): finished(1, 1)}

    runs = asyncio.run(rounds(run_round, most=most, budget_seconds=budget, clock=lambda: now[0]))
    assert [len(of_key) for of_key in runs.values()] == [expected]
    assert order == [number % 2 == 1 for number in range(expected)]


def test_ratios_are_taken_round_by_round():
    runs = {
        ("short", "closed 8", PER_BUCKET): [finished(2, 1), finished(8, 1)],
        ("short", "closed 8", "ladder"): [finished(1, 1), finished(6, 1)],
    }
    key = ("short", "closed 8", "ladder")
    assert ratios(runs, key) == [0.5, 0.75]
    assert ratios(runs, key, lambda run: run.processor_seconds) == [0.5, 0.75]
    assert ratios(runs, ("short", "closed 8", PER_BUCKET)) == [1, 1]
    assert latencies(runs[key]) == [1, 6]
