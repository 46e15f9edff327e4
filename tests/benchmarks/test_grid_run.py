"""A run of the grid: its document, its account of time, and taking an interrupted one up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.grid_run import GridRun
from benchmarks.probes import open_forward_probe
from benchmarks.profiles import CPU
from tests.benchmarks.fakes import FakeClock, FakeEngine, installed

SMALL = replace(CPU, batches=(1, 2), lengths=(64, 128), token_budget=256)


@contextmanager
def run(
    monkeypatch: pytest.MonkeyPatch, clock: FakeClock, **options: Any
) -> Iterator[tuple[GridRun, FakeEngine]]:
    engine = FakeEngine(clock, fail_at=options.pop("fail_at", None))
    started = clock()
    with (
        installed(engine, monkeypatch),
        open_forward_probe(SMALL, 1, clock) as opened,
    ):
        clock.advance(4.0)
        yield (
            GridRun(SMALL, SMALL.timing, opened, seed=1, started=started, clock=clock, **options),
            engine,
        )


def interrupted(monkeypatch: pytest.MonkeyPatch, clock: FakeClock, at: int) -> dict[str, Any]:
    with run(monkeypatch, clock, fail_at=at) as (first, _):
        with pytest.raises(KeyboardInterrupt):
            first.sample()
        return first.document()


def test_a_whole_run_has_every_cell_and_an_account_of_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = FakeClock()
    with run(monkeypatch, clock) as (only, _):
        only.sample()
        found = only.document()
    assert found["complete"] is True
    assert [(c["batch"], c["length"]) for c in found["cells"]] == SMALL.shapes
    assert found["cells"][3]["milliseconds"] == pytest.approx(1e-2 * (100 + 256))
    spent = found["spent_seconds"]
    assert spent["start_up"] == 4.0
    parts = spent["start_up"] + spent["warm_up"] + spent["sampling"]
    assert parts == pytest.approx(spent["total"], abs=0.01)  # nothing else moved the clock
    assert found["processes"] == 1


def test_a_resumed_run_ends_with_the_blocks_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    before = interrupted(monkeypatch, clock, at=120)
    assert before["complete"] is False
    blocks = sum(len(cell["blocks"]) for cell in before["cells"])
    assert blocks > 0
    with run(monkeypatch, clock, resumed=before) as (second, _):
        second.sample()
        after = second.document()
    assert after["complete"] is True
    assert after["processes"] == 2
    assert sum(len(cell["blocks"]) for cell in after["cells"]) == 6 * len(SMALL.shapes)
    for name in ("total", "start_up", "warm_up", "sampling"):
        assert after["spent_seconds"][name] > before["spent_seconds"][name]


def test_a_resumed_run_does_not_measure_finished_cells_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = FakeClock()
    with run(monkeypatch, clock) as (first, _):
        first.sample()
        done = first.document()
    with run(monkeypatch, clock, resumed=done) as (second, engine):
        second.sample()
        assert engine.forwards == []
        assert second.document()["cells"] == done["cells"]


def test_another_commit_is_refused_with_both_values(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    before = interrupted(monkeypatch, clock, at=120)
    before["environment"]["commit"] = "0000000"
    with (
        pytest.raises(ValueError, match=r"another one: commit: '0000000' before, .* now"),
        run(monkeypatch, clock, resumed=before),
    ):
        pass


def test_the_budget_counts_the_start_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with run(monkeypatch, FakeClock()) as (only, engine):
        only.sample(budget_seconds=4.0)
        assert engine.forwards == []
