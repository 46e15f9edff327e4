"""Runs through the real batcher in virtual time: what a run says is what the batcher did."""

from __future__ import annotations

import pytest

from benchmarks.policies import policies
from benchmarks.scenarios import LOADS, poisson_arrivals
from benchmarks.serving import KeptRunner, Run, length_rows, token_rows, virtual_server
from benchmarks.virtual_time import run_virtually
from decider.grid import CPU_GRID

TIMES = {(b, t): 30 + 0.2 * b * t for b, t in CPU_GRID.shapes}


def run(load: str, lengths: list[int], policy: str = "ladder", rate: float = 0.0) -> Run:
    server = virtual_server(CPU_GRID, TIMES)
    compared = policies(CPU_GRID, TIMES)
    return run_virtually(server.run(compared[policy], load, length_rows(lengths), rate))


def test_one_client_waits_for_one_forward_after_the_other():
    lengths = [10, 70, 1_000]
    alone = run("closed 1", lengths)
    expected = [TIMES[1, CPU_GRID.pad_len(n)] / 1_000 for n in lengths]
    assert alone.served.latencies == pytest.approx(expected)
    assert alone.served.seconds == pytest.approx(sum(expected))
    assert alone.forwards == 3
    assert alone.real_tokens == sum(lengths)
    assert alone.padded_tokens == 64 + 128 + 1_024


def test_eight_clients_share_a_forward_and_the_ninth_row_runs_after_it():
    shared = run("closed 8", [60] * 9)
    first, second = TIMES[8, 64] / 1_000, TIMES[1, 64] / 1_000
    window = 0.002  # which the eight opened, and the ninth waits in
    assert shared.forwards == 2
    assert shared.served.latencies == pytest.approx([first] * 8 + [window + second])
    assert shared.padded_tokens == 9 * 64


def test_an_open_loop_arrives_at_its_rate():
    lengths = [60] * 40
    opened = run("open 70%", lengths, rate=0.01)  # so slow that nobody waits for anybody
    assert opened.served.seconds > poisson_arrivals(0.01, 40)[-1]
    assert max(opened.served.latencies) == pytest.approx(TIMES[1, 64] / 1_000)


def test_virtual_time_gives_the_same_numbers_each_time():
    lengths = [int(30 + 900 * (k * 0.618 % 1)) for k in range(150)]
    first, second = (run("closed 64", lengths, "measured") for _ in range(2))
    assert first.served == second.served
    assert (first.forwards, first.padded_tokens) == (second.forwards, second.padded_tokens)


def test_a_kept_runner_is_neither_started_nor_stopped_by_its_batchers():
    class Thread:
        def run(self) -> str:
            return "ran"

    kept = KeptRunner(Thread())
    kept.start()
    kept.stop()
    assert kept.run() == "ran"


def test_rows_for_a_real_engine_fit_its_vocabulary():
    rows = token_rows([3, 500], vocabulary_size=7, seed=1)
    assert [len(row.tokens) for row in rows] == [3, 500]
    assert set(rows[1].tokens) == set(range(7))
    assert [row.slots[0].position for row in rows] == [2, 499]
    assert rows == token_rows([3, 500], 7, 1)
    assert LOADS["closed 1"].clients == 1
