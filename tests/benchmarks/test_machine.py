"""The machine at hand: rough times of its forwards, and a served round on the real engine."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from dataclasses import replace

import pytest

from benchmarks.machine import Machine, cell_times, open_machine
from benchmarks.policies import NAMES, policies
from benchmarks.profiles import CPU
from benchmarks.rounds import one_round
from benchmarks.serving import token_rows

SMALL = replace(CPU, lengths=(64, 128), batches=(1, 2), token_budget=256)


class Probe:
    """Each visit of a cell takes its own time and, except the third, half as much again."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds
        self.visits: Counter[str] = Counter()

    def cells(self) -> list[str]:
        return list(self.seconds)

    def sample(self, cell: str, repeats: int) -> float:
        assert repeats == 1
        self.visits[cell] += 1
        return self.seconds[cell] * (1 if self.visits[cell] == 3 else 1.5)


def test_short_cells_are_visited_most_and_the_least_time_counts():
    probe = Probe({"quick": 0.01, "slow": 0.2, "slowest": 9.0})
    times = cell_times(probe, visits=5, enough_seconds=0.25, seed=0)
    assert probe.visits == {"quick": 5, "slow": 1, "slowest": 1}
    assert times == pytest.approx({"quick": 0.01, "slow": 0.3, "slowest": 13.5})


def test_a_round_on_the_real_engine():
    async def main() -> tuple[Machine, dict]:
        async with open_machine(SMALL, seed=1, visits=1) as machine:
            assert any(thread.name == "benchmark-engine" for thread in threading.enumerate())
            rows = {("short", "closed 8"): token_rows([5, 60, 70, 120], 256, 1)}
            compared = policies(machine.grid, machine.milliseconds)
            return machine, await one_round(machine.server, compared, rows)

    machine, runs = asyncio.run(main())
    assert sorted(machine.milliseconds) == sorted(SMALL.shapes)
    assert machine.environment["threads"] == 1
    assert [policy for _, _, policy in runs] == list(NAMES)
    for run in runs.values():
        assert run.real_tokens == 255
        assert run.padded_tokens >= 64 * 2 + 128 * 2
        assert 1 <= run.forwards <= 4
        assert 0 < run.spent["engine"] <= run.served.seconds
        assert min(run.served.latencies) > 0
