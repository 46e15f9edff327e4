"""A pair: two arms, one of each side, sampled in turn cell by cell.

Each cell is visited in ABBA order, so that a drift falls on both sides alike, and the whole pair
gives one log-ratio a cell: the pair is the unit of replication. Which arm leads is the caller's to
swap from pair to pair. Knows arms and their messages; knows no files and no statistics beyond a
median.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any, Literal

from decider.perf.comparison.arm import Arm, ArmError

Side = Literal["base", "head"]
SIDES: tuple[Side, Side] = ("base", "head")

USUAL_CLOCK_SHARE = 0.75
"""A round with a block below this share of the cell's usual clock is dropped."""


@dataclass(frozen=True)
class Limits:
    """How long an arm may take, in seconds, and how often a pair visits each cell."""

    start_seconds: float = 300.0
    answer_seconds: float = 120.0
    rounds: int = 4
    """ABBA visits of a cell; every other one is BAAB."""


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Failure:
    """What an arm could not do; `cell` is None while it started."""

    arm: Side
    cell: str | None
    kind: str
    message: str


@dataclass
class CellPair:
    """What a pair measured of one cell: blocks in order, two a round and side, in seconds."""

    repeats: int
    blocks: dict[Side, list[list[float]]] = field(default_factory=lambda: {"base": [], "head": []})
    clocks: dict[Side, list[float | None]] = field(default_factory=lambda: {"base": [], "head": []})

    @property
    def dropped(self) -> list[int]:
        """Rounds, from 0, with a block far below the usual clock of the device."""
        clocks = [clock for side in SIDES for clock in self.clocks[side] if clock is not None]
        if not clocks:
            return []
        slowest = USUAL_CLOCK_SHARE * median(clocks)
        return sorted(
            {
                index // 2
                for side in SIDES
                for index, clock in enumerate(self.clocks[side])
                if clock is not None and clock < slowest
            }
        )

    @property
    def log_ratio(self) -> float | None:
        """Logarithm of head over base; None where every round was dropped."""
        if not self._kept("base"):
            return None
        return self.log_seconds("head") - self.log_seconds("base")

    def log_seconds(self, side: Side) -> float:
        """Logarithm of a side's time: the mean over its kept blocks of their medians'."""
        return fmean(math.log(median(block)) for block in self._kept(side))

    def _kept(self, side: Side) -> list[list[float]]:
        dropped = self.dropped
        return [b for index, b in enumerate(self.blocks[side]) if index // 2 not in dropped]


@dataclass
class Pair:
    """What two arms measured.

    Attributes:
        number: from 1 on.
        first: the arm that was started first, and leads.
        hellos: what each arm said when it had started.
        cells: what was measured of each cell, finished cells only.
        failures: what the arms could not do.
        seconds: from the first start to the end.
    """

    number: int
    first: Side
    hellos: dict[Side, dict[str, Any]] = field(default_factory=dict)
    cells: dict[str, CellPair] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0
    complete: bool = False


Choose = Callable[[Mapping[Side, Mapping[str, Any]]], Sequence[str]]
"""The cells to sample, given what both arms said when they had started."""


def measure_pair(
    number: int,
    first: Side,
    start: Callable[[Side], Arm],
    choose: Choose,
    limits: Limits,
    *,
    cpus: Sequence[int] = (),
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    clock: Callable[[], float] = time.monotonic,
) -> Pair:
    """Start two arms, sample their cells in turn, end them.

    A failure of an arm ends the pair, unless it lives on; what was measured before is kept.

    Args:
        number: seeds the order of the cells.
        first: the arm to start first.
        start: starts the arm of a side.
        choose: which cells; raising here ends the arms and passes through.
        limits: time limits and rounds.
        cpus: both arms run on these once they have started; empty: on any.
        progress: called with the visits done and those planned.
    """
    pair = Pair(number, first)
    began = clock()
    order: list[Side] = [first, "head" if first == "base" else "base"]
    arms: dict[Side, Arm] = {}
    try:
        for side in order:
            arms[side] = start(side)
        visit = _Visit(pair, arms, order, limits, cpus)
        if visit.begin():
            visit.sample(list(choose(pair.hellos)), progress)
    finally:
        for arm in arms.values():
            arm.close()
        pair.seconds = clock() - began
    return pair


class _GoneError(Exception):
    """An arm has ended, and the pair with it."""


class _Visit:
    """The messages of one pair."""

    def __init__(
        self,
        pair: Pair,
        arms: Mapping[Side, Arm],
        order: Sequence[Side],
        limits: Limits,
        cpus: Sequence[int],
    ) -> None:
        self._pair = pair
        self._arms = arms
        self._order = order
        self._limits = limits
        self._cpus = list(cpus)
        self._unfinished: dict[str, CellPair] = {}
        self._failed: set[str] = set()

    def begin(self) -> bool:
        """Wait until both have started; whether they have."""
        for side in self._order:
            try:
                arm = self._arms[side]
                self._pair.hellos[side] = arm.hello(self._limits.start_seconds)
                if self._cpus:
                    arm.ask({"do": "pin", "cpus": self._cpus}, self._limits.answer_seconds)
            except ArmError as failure:
                self._note(side, None, failure)
        return not self._pair.failures

    def sample(self, cells: list[str], progress: Callable[[int, int], None]) -> None:
        """Warm every cell up, then visit each in every round, in an order of the pair's own."""
        shuffle = random.Random(self._pair.number).shuffle  # noqa: S311
        total = len(cells) * (1 + self._limits.rounds)
        done = 0
        try:
            shuffle(cells)
            for cell in cells:
                self._warm_up(cell)
                progress(done := done + 1, total)
            for number in range(self._limits.rounds):
                shuffle(cells)
                for cell in cells:
                    self._round(cell, number)
                    progress(done := done + 1, total)
        except _GoneError:
            pass
        for cell in cells:
            self._keep(cell)
        self._pair.complete = len(self._pair.cells) == len(cells)

    def _warm_up(self, cell: str) -> None:
        repeats = []
        for side in self._order:
            answer = self._ask(side, cell, {"do": "warm_up", "cell": cell})
            if answer is None:
                return
            repeats.append(int(answer["repeats"]))
        # The same for both: a mean over other runs would be another quantity.
        self._unfinished[cell] = CellPair(max(repeats))

    def _round(self, cell: str, number: int) -> None:
        if cell in self._failed:
            return
        first, second = self._order if number % 2 == 0 else reversed(self._order)
        found = self._unfinished[cell]
        message = {"do": "sample", "cell": cell, "repeats": found.repeats}
        answers: list[tuple[Side, dict[str, Any]]] = []
        for side in (first, second, second, first):
            answer = self._ask(side, cell, message)
            if answer is None:
                return
            answers.append((side, answer))
        for side, answer in answers:  # whole rounds only: half of one is out of balance
            found.blocks[side].append([float(seconds) for seconds in answer["seconds"]])
            found.clocks[side].append(answer.get("sm_mhz"))

    def _keep(self, cell: str) -> None:
        found = self._unfinished.get(cell)
        if found is None or cell in self._failed or not found.blocks["base"]:
            return
        if found.log_ratio is not None:
            self._pair.cells[cell] = found

    def _ask(self, side: Side, cell: str, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arm's answer; None for an error after which it lives on.

        Raises:
            _GoneError: it does not.
        """
        try:
            return self._arms[side].ask(message, self._limits.answer_seconds)
        except ArmError as failure:
            self._failed.add(cell)
            self._note(side, cell, failure)
            if failure.kind != "error":
                raise _GoneError from None
            return None

    def _note(self, side: Side, cell: str | None, failure: ArmError) -> None:
        self._pair.failures.append(Failure(side, cell, failure.kind, failure.message))
