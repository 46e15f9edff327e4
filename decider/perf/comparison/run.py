"""A run: pair after pair until every cell is judged, or the time is spent.

Knows pairs and verdicts; knows neither how an arm is started nor what is written where. Everything
it has measured is in `pairs`, so that an interrupted run goes on from them.
"""

from __future__ import annotations

import math
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from decider.perf.comparison.arm import Arm
from decider.perf.comparison.comparability import check_same_machine, differing, not_comparable
from decider.perf.comparison.means import FEWEST_CELLS, MEAN, mean_cell, mean_of, with_means
from decider.perf.comparison.pair import DEFAULT_LIMITS, Limits, Pair, Side, measure_pair
from decider.perf.verdict import Design, Judgement, Verdict, judge

CONTROL = "control"
"""The cell that runs nothing of decider."""

FAILURES_OF_A_CELL = 2
"""One may be the machine's doing; from so many on the cell has failed and is left out."""

PAIRS_WITHOUT_SAMPLES = 3
"""Consecutive pairs that measured nothing, after which the run gives up."""


@dataclass(frozen=True)
class Progress:
    """Where a run stands: for people.

    Attributes:
        pair: the pair that is being measured.
        visits, visits_planned: of that pair; 0 while its arms start.
        decided, cells: cells with a verdict, and all of them; 0 before the first start.
        seconds_left: of the budget; None without one.
    """

    pair: int
    visits: int
    visits_planned: int
    decided: int
    cells: int
    seconds_left: float | None


@dataclass
class Run:
    """Measures and judges.

    Args:
        start: starts the arm of a side.
        design: levels, margin and planned looks; the last one ends the run.
        limits: of each pair.
        cpus: what both arms are pinned to; empty: nothing.
        budget_seconds: no pair begins that would probably end later; the first one always does.
        pairs: of an earlier part of this run.
        looks_taken: pairs with samples at each look so far.
        environments: what the earlier part ran on.
        spent_seconds: by the earlier part.
        coin: a fair one. That chance decides who leads is what the test of `decider.perf.verdict`
            rests on, so it is no seeded generator.

    Attributes:
        cells: what the arms say of each cell, by id.
        judgements: of the last look.
        reasons: why a cell is not comparable or has failed.
        differs: environment fields in which the sides differ: name, base, head.
        hellos: what the arms of the newest pair said.
    """

    start: Callable[[Side], Arm]
    design: Design
    limits: Limits = DEFAULT_LIMITS
    cpus: Sequence[int] = ()
    budget_seconds: float = math.inf
    pairs: list[Pair] = field(default_factory=list)
    looks_taken: list[int] = field(default_factory=list)
    environments: dict[Side, dict[str, Any]] = field(default_factory=dict)
    spent_seconds: float = 0.0
    coin: Callable[[], bool] = lambda: secrets.randbelow(2) == 1
    clock: Callable[[], float] = time.monotonic
    progress: Callable[[Progress], None] = lambda _: None
    cells: dict[str, dict[str, Any]] = field(default_factory=dict)
    judgements: dict[str, Judgement] = field(default_factory=dict)
    reasons: dict[str, tuple[Verdict, str]] = field(default_factory=dict)
    differs: list[tuple[str, Any, Any]] = field(default_factory=list)
    hellos: dict[Side, dict[str, Any]] = field(default_factory=dict)

    def go(self, after_pair: Callable[[], None] = lambda: None) -> None:
        """Measure until every cell has its verdict, the looks are used up or the time is spent.

        An interrupt passes through; whole pairs are kept.

        Args:
            after_pair: called when a pair has been added and judged.

        Raises:
            ValueError: the machine is not the one that earlier pairs ran on.
        """
        self._judge()
        while not self._is_over():
            began = self.clock()
            pair = measure_pair(
                len(self.pairs) + 1,
                self._first(),
                self.start,
                self._choose,
                self.limits,
                cpus=self.cpus,
                progress=self._show,
                clock=self.clock,
            )
            self.spent_seconds += self.clock() - began
            self.pairs.append(pair)
            self._count_failures()
            with_means(pair, self._members())
            if self._is_look_due():
                self._look()
            after_pair()
        if self.sampled > (self.looks_taken[-1] if self.looks_taken else 0) and self.undecided:
            self._look()  # the time ended between two looks: this one takes the next one's share

    @property
    def sampled(self) -> int:
        """Pairs that measured anything."""
        return sum(bool(pair.cells) for pair in self.pairs)

    @property
    def undecided(self) -> list[str]:
        """Cells, means among them and the control not, that are still to be decided."""
        return [cell for cell in self._open() if cell != CONTROL]

    @property
    def log_ratios(self) -> dict[str, list[float]]:
        """By cell, one a pair that measured anything; NaN where it lacks the cell."""
        pairs = [pair for pair in self.pairs if pair.cells]
        names = [*dict.fromkeys(name for pair in pairs for name in pair.cells)]
        return {
            name: [
                math.nan
                if (found := pair.cells.get(name)) is None or found.log_ratio is None
                else found.log_ratio
                for pair in pairs
            ]
            for name in names
        }

    def _first(self) -> Side:
        """A coin decides who leads the first of each two pairs; the other leads the second."""
        if len(self.pairs) % 2:
            return "head" if self.pairs[-1].first == "base" else "base"
        return "head" if self.coin() else "base"

    def _open(self) -> list[str]:
        return [
            cell
            for cell in self.cells
            if cell not in self.reasons
            and (cell not in self.judgements or self.judgements[cell].decided_at is None)
        ]

    def _choose(self, hellos: Mapping[Side, Mapping[str, Any]]) -> list[str]:
        """The cells of this pair: the undecided ones and, always, the control."""
        for side, hello in hellos.items():
            known = self.environments.setdefault(side, dict(hello["environment"]))
            check_same_machine(side, known, hello["environment"])
        self.hellos = {side: dict(hello) for side, hello in hellos.items()}
        self.cells = {
            cell["id"]: {name: value for name, value in cell.items() if name != "skip"}
            for side in ("head", "base")
            for cell in hellos[side]["cells"]
        }
        self.differs = differing(self.environments["base"], self.environments["head"])
        for cell, reason in not_comparable(hellos, self.differs).items():
            self.reasons.setdefault(cell, (Verdict.NOT_COMPARABLE, reason))
        self.cells |= {
            name: mean_cell(name.removeprefix(f"{MEAN}/"))
            for name, cells in self._members().items()
            if len(cells) >= FEWEST_CELLS
        }
        wanted = set(self.undecided)
        # A decided cell goes on as long as the mean that it is part of is not.
        chosen = [
            name
            for cells in self._members().values()
            for name in cells
            if name in wanted or mean_of(self.cells[name]) in wanted
        ]
        return [*chosen, CONTROL] if chosen and CONTROL not in self.reasons else chosen

    def _members(self) -> dict[str, list[str]]:
        """The cells that can be measured, by the id of the mean that they are part of."""
        members: dict[str, list[str]] = {}
        for name, cell in self.cells.items():
            if name not in self.reasons and cell["benchmark"] not in (CONTROL, MEAN):
                members.setdefault(mean_of(cell), []).append(name)
        return members

    def _is_over(self) -> bool:
        if self.hellos and not self.undecided:
            return True
        if len(self.looks_taken) >= len(self.design.looks):
            return True
        last = self.pairs[-PAIRS_WITHOUT_SAMPLES:]
        if len(last) == PAIRS_WITHOUT_SAMPLES and not any(pair.cells for pair in last):
            return True
        expected = max((pair.seconds for pair in self.pairs[-2:]), default=0.0)
        return bool(self.pairs) and self.spent_seconds + expected > self.budget_seconds

    def _is_look_due(self) -> bool:
        taken = len(self.looks_taken)
        return taken < len(self.design.looks) and self.sampled >= self.design.looks[taken]

    def _look(self) -> None:
        self.looks_taken.append(self.sampled)
        self._judge()

    def _judge(self) -> None:
        if self.looks_taken:
            self.judgements = judge(self.log_ratios, self.looks_taken, self.design)

    def _count_failures(self) -> None:
        by_cell = Counter(
            failure.cell for pair in self.pairs for failure in pair.failures if failure.cell
        )
        for pair in self.pairs:
            for failure in pair.failures:
                if failure.cell and by_cell[failure.cell] >= FAILURES_OF_A_CELL:
                    reason = f"{failure.arm}: {failure.kind}: {failure.message}"
                    self.reasons.setdefault(failure.cell, (Verdict.FAILED, reason))

    def _show(self, done: int, total: int) -> None:
        cells = [cell for cell in self.cells if cell != CONTROL]
        left = None
        if math.isfinite(self.budget_seconds):
            left = max(0.0, self.budget_seconds - self.spent_seconds)
        decided = len(cells) - len(self.undecided)
        self.progress(Progress(len(self.pairs) + 1, done, total, decided, len(cells), left))
