"""The forward probe on a fake engine: what it runs, in which turn, and what it times."""

from __future__ import annotations

import sys
from itertools import pairwise
from types import ModuleType

import pytest

from benchmarks.probes import ROTATION, EngineMissingError, ForwardProbe, open_forward_probe
from benchmarks.profiles import CPU
from tests.benchmarks.fakes import FakeClock, FakeEngine, Row, Slot, installed

SHAPES = [(1, 64), (4, 128)]


def row(tokens: list[int], options: int) -> Row:
    return Row(tokens, [Slot(len(tokens) - 1, options)])


def made(seed: int = 1) -> tuple[ForwardProbe, FakeEngine]:
    clock = FakeClock()
    engine = FakeEngine(clock)
    return ForwardProbe(engine, row, SHAPES, seed, clock), engine


def test_a_sample_is_the_mean_of_its_runs() -> None:
    probe, engine = made()
    assert probe.sample((4, 128), 5) == pytest.approx(1e-5 * (100 + 4 * 128))
    assert len(engine.forwards) == 5


def test_groups_are_full_rows_of_random_tokens_with_one_slot_at_the_end() -> None:
    probe, engine = made()
    probe.sample((4, 128), 1)
    rows, length, batch = engine.forwards[0]
    assert (length, batch, len(rows)) == (128, 4, 4)
    for tokens, slots in rows:
        assert len(tokens) == 128
        assert 0 <= min(tokens) < max(tokens) < engine.vocabulary_size
        assert slots == [Slot(127, 4)]


def test_inputs_rotate_across_samples() -> None:
    probe, engine = made()
    for _ in range(ROTATION):
        probe.sample((1, 64), 2)
    inputs = [tuple(rows[0].tokens) for rows, _, _ in engine.forwards]
    assert len(set(inputs)) == ROTATION
    assert all(first != second for first, second in pairwise(inputs))


def test_inputs_come_from_the_seed_alone() -> None:
    tokens = []
    for seed, warm in ((1, (1, 64)), (1, (4, 128)), (2, (1, 64))):
        probe, engine = made(seed)
        probe.sample(warm, ROTATION)
        probe.sample((4, 128), 1)
        tokens.append(engine.forwards[-1][0][0].tokens)
    assert tokens[0] == tokens[1] != tokens[2]


def test_an_open_probe_is_captured_sealed_described_and_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = FakeEngine(FakeClock())
    with installed(engine, monkeypatch) as asked, open_forward_probe(CPU, seed=3) as opened:
        assert asked == {"model": "tiny", "grid": CPU.grid(), "device": "cpu", "threads": 1}
        assert engine.calls == ["capture", "seal"]
        assert list(opened.probe.cells()) == CPU.shapes
        assert (opened.engine, opened.capture_seconds) == ({"model": "fake"}, 0.5)
        assert opened.environment["allocator"] == "fake allocator"
        assert opened.environment["seed"] == 3
    assert engine.calls[-1] == "close"


def test_an_engine_that_fails_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = FakeEngine(FakeClock())
    monkeypatch.setattr(engine, "seal", lambda: 1 / 0)
    with (
        installed(engine, monkeypatch),
        pytest.raises(ZeroDivisionError),
        open_forward_probe(CPU, seed=3),
    ):
        pass
    assert engine.calls == ["capture", "close"]


def test_a_commit_without_an_engine_is_told_apart_from_a_broken_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with installed(FakeEngine(FakeClock()), monkeypatch):
        monkeypatch.setitem(sys.modules, "decider.engine", ModuleType("decider.engine"))
        with (
            pytest.raises(EngineMissingError, match="no engine to measure"),
            open_forward_probe(CPU, seed=3),
        ):
            pass
