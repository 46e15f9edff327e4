"""A clock that only moves when told, a probe that moves it, and an engine that only counts."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import pytest


class FakeClock:
    """Seconds that pass only in `advance`."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class FakeProbe:
    """Cells whose runs take what `seconds` says: of the cell and of how often it was sampled."""

    def __init__(
        self, clock: FakeClock, seconds: Callable[[Any, int], float], cells: Sequence[Any]
    ) -> None:
        self._clock = clock
        self._seconds = seconds
        self._cells = list(cells)
        self.log: list[Any] = []

    def cells(self) -> Sequence[Any]:
        return self._cells

    def sample(self, cell: Any, repeats: int) -> float:
        seconds = self._seconds(cell, self.log.count(cell))
        self.log.append(cell)
        self._clock.advance(seconds * repeats)
        return seconds


def noisy(cell_seconds: float, spread: float, seed: int = 0) -> Callable[[Any, int], float]:
    """Log-normal times around `cell_seconds`."""
    generator = random.Random(seed)
    return lambda _cell, _count: cell_seconds * generator.lognormvariate(0.0, spread)


class Slot(NamedTuple):
    position: int
    options: int


class Row(NamedTuple):
    tokens: Sequence[int]
    slots: Sequence[Slot]


class Report(NamedTuple):
    seconds: float
    bytes_per_shape: dict[tuple[int, int], int]


@dataclass
class FakeEngine:
    """Takes `seconds_per_token` of a fake clock for every padded token, and remembers its calls."""

    clock: FakeClock
    seconds_per_token: float = 1e-5
    vocabulary_size: int = 50
    max_options: int = 8
    fail_at: int | None = None
    error: BaseException = field(default_factory=KeyboardInterrupt)
    calls: list[str] = field(default_factory=list)
    forwards: list[tuple[list[Row], int, int]] = field(default_factory=list)

    def capture(self) -> Report:
        self.calls.append("capture")
        return Report(0.5, {(1, 64): 4_096})

    def seal(self) -> None:
        self.calls.append("seal")

    def close(self) -> None:
        self.calls.append("close")

    def describe(self) -> dict[str, Any]:
        return {"model": "fake"}

    def forward(self, rows: list[Row], length: int, batch: int) -> None:
        if self.fail_at is not None and len(self.forwards) >= self.fail_at:
            raise self.error
        self.forwards.append((rows, length, batch))
        self.clock.advance(self.seconds_per_token * (100 + batch * length))


@contextmanager
def installed(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """`decider.engine` opens `engine`; yields the arguments it was opened with."""
    asked: dict[str, Any] = {}

    def open_engine(model: str, **arguments: Any) -> FakeEngine:
        asked.update(arguments, model=model)
        return engine

    module = ModuleType("decider.engine")
    module.__dict__.update(open_engine=open_engine, Row=Row, Slot=Slot)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "decider.engine", module)
        patch.setattr("benchmarks.probes.keep_memory", lambda: "fake allocator")
        patch.setattr("benchmarks.probes.pin_threads", lambda count: None)
        yield asked
