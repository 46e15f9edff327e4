"""Engines, planners and runners without a model: deterministic, slow, failing or dead on demand."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from decider.batching import Planner
from decider.costs import CostModel, LadderCost
from decider.engine import Row, Slot
from decider.engine.rows import Limits, checked_row
from decider.grid import BucketGrid
from decider.ledger import Group
from decider.serve.batcher import Batcher

T = TypeVar("T")

GRID = BucketGrid(length_buckets=(4, 8, 16), batch_buckets=(1, 2, 4), token_budget=32, long_step=10)
COST = LadderCost(3, GRID)
LIMITS = Limits(vocabulary_size=1_000, max_options=8, max_slots=4, max_row_tokens=50_000)
POISON = 999
NOT_A_NUMBER = 998


def row(check: int, length: int = 1, options: int = 3) -> Row:
    """A row that is told apart by its check value, 1 or more."""
    return Row([check] + [0] * (length - 1), [Slot(length - 1, options)])


def answer(asked: Row) -> list[list[float]]:
    """What the fake engine must say of a row, one probability at a time."""
    answers = []
    for _, options in asked.slots:
        weights = [1 + (asked.tokens[0] * (option + 1)) % 97 for option in range(options)]
        answers.append([weight / sum(weights) for weight in weights])
    return answers


class FakeEngine:
    """Answers with `answer` and keeps every group it ran. A row that begins with POISON fails; one
    that begins with NOT_A_NUMBER is answered by NaN in its last slot."""

    vocabulary_size = LIMITS.vocabulary_size
    max_options = LIMITS.max_options
    max_slots = LIMITS.max_slots
    max_row_tokens = LIMITS.max_row_tokens

    def __init__(self, grid: BucketGrid = GRID) -> None:
        self.grid = grid
        self.ran: list[tuple[list[int], int, int | None]] = []
        self.threads: set[int] = set()
        self.dead: BaseException | None = None

    def describe(self) -> dict[str, Any]:
        return {"model": "fake"}

    def check(self, asked: Row) -> None:
        checked_row(asked, LIMITS)

    def forward(self, rows: Sequence[Row], length: int, batch: int | None = None) -> list[Any]:
        self.threads.add(threading.get_ident())
        if self.dead is not None:
            raise self.dead
        checks = [int(asked.tokens[0]) for asked in rows]
        if POISON in checks:
            raise RuntimeError(f"poison at {checks.index(POISON)}")
        assert all(len(asked.tokens) <= length for asked in rows)
        assert batch is None or len(rows) <= batch
        if checks != [0]:  # not the batcher's own probe
            self.ran.append((checks, length, batch))
        answers = [
            [np.array(probabilities, dtype=np.float64) for probabilities in answer(asked)]
            for asked in rows
        ]
        for check, answered in zip(checks, answers, strict=True):
            if check == NOT_A_NUMBER:
                answered[-1][0] = np.nan
        return answers


class SlowRunner:
    """Calls the engine on the event loop after `seconds`: deterministic in virtual time."""

    def __init__(self, seconds: float = 0.01) -> None:
        self.seconds = seconds
        self.started = self.stopped = False
        self.calls = 0

    def start(self) -> None:
        self.started = True

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        self.calls += 1
        await asyncio.sleep(self.seconds)
        return function(*arguments)

    def stop(self) -> None:
        self.stopped = True


class GatedRunner(SlowRunner):
    """Calls the engine only while its gate is open."""

    def __init__(self) -> None:
        super().__init__(0)
        self.gate = asyncio.Event()
        self.gate.set()

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        await self.gate.wait()
        return await super().run(function, *arguments)


class FixedPlanning:
    """Plans with a function of the lengths."""

    def __init__(
        self, plan: Callable[[Sequence[int]], list[Group]], cost: CostModel = COST
    ) -> None:
        self.plan = plan
        self.cost = cost


def batcher(engine: FakeEngine | None = None, **options: Any) -> Batcher:
    """A batcher of the fake engine with the real planner, on a runner of its own event loop."""
    options.setdefault("runner", SlowRunner())
    planner = options.pop("planner", None) or Planner(GRID, COST, 4)
    return Batcher(engine or FakeEngine(), planner, **{"max_batch": 4, **options})


def plain(answers: Sequence[Any]) -> list[list[list[float]]]:
    """The answers as lists of floats."""
    return [[probabilities.tolist() for probabilities in answer] for answer in answers]


async def check_answers(server: Batcher, rows: Sequence[Row]) -> None:
    """Submit the rows and compare each answer with its row's own."""
    assert plain(await server.submit(rows)) == [answer(asked) for asked in rows]
