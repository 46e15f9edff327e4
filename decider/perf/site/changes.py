"""Where the cells of benchmarks changed: what the search of their series found, by commit.

What is a change, whether it still holds and whether it may be chance is `decider.perf.history`'s to
say; here its places in a series become commits of a benchmark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from decider.perf.history.findings import Finding, search
from decider.perf.history.results_history import BenchmarkHistory, CellHistory, Commit, Stretch
from decider.perf.history.series import Series

Progress = Callable[[int, int], None]
Finder = Callable[[Sequence[Series], Progress], Sequence[Finding]]
"""Searches series for changes; is given what to tell how many are done, and of how many."""

ByCell = dict[str, list["CellChange"]]
"""The changes of each cell that has any, in order of their commits."""


@dataclass(frozen=True)
class CellChange:
    """A change of a cell on the site.

    Attributes:
        machine, benchmark, label: of the cell.
        unit: of both values.
        after: number of the last commit before the change, among the benchmark's.
        number: number of the first commit after a step, or of the last of a drift.
        since, commit: the same two as commits; the change is in the range (since, commit].
        in_force: whether it still holds at the newest commit.
        confirmed: whether it is clear beside the number of series that were searched.
    """

    machine: str
    benchmark: str
    label: str
    unit: str
    kind: Literal["step", "drift"]
    after: int
    number: int
    since: Commit
    commit: Commit
    before_value: float
    after_value: float
    change: float
    worse: bool
    in_force: bool
    confirmed: bool

    @property
    def size(self) -> str:
        """The relative change: `+12.3%`; empty where it means nothing, as from zero."""
        return f"{self.change:+.1%}" if math.isfinite(self.change) else ""

    @property
    def word(self) -> str:
        """Whether it rose or fell, and whether that is for the worse or the better."""
        sign = "▲" if self.after_value > self.before_value else "▼"
        return f"{sign} {'worse' if self.worse else 'better'}"

    @property
    def standing(self) -> str:
        """Whether it still holds, and whether it may be nothing."""
        force = "in force" if self.in_force else "undone since"
        return force if self.confirmed else f"{force}, may be chance"


def search_series(series: Sequence[Series], progress: Progress) -> Sequence[Finding]:
    """What `decider history` finds: the usual `Finder`."""
    return search(series, progress).findings


def changes_of(
    histories: Sequence[BenchmarkHistory], find: Finder, progress: Progress = lambda *_: None
) -> list[ByCell]:
    """The changes of each benchmark, in the order in which they are given.

    All series are searched at once: among how many a change was found tells whether it may be
    chance.
    """
    series: list[Series] = []
    places: dict[int, tuple[int, Stretch]] = {}
    for place, history in enumerate(histories):
        for cell in history.cells:
            for stretch in cell.stretches:
                series.append(_series(history, cell, stretch))
                places[id(series[-1])] = place, stretch
    found: list[ByCell] = [{} for _ in histories]
    for finding in find(series, progress):
        place, stretch = places[id(finding.series)]
        change = _placed(histories[place], stretch, finding)
        found[place].setdefault(change.label, []).append(change)
    for by_cell in found:
        for changes in by_cell.values():
            changes.sort(key=lambda change: (change.number, change.after))
    return found


def _series(history: BenchmarkHistory, cell: CellHistory, stretch: Stretch) -> Series:
    end = stretch.first + len(stretch.values)
    return Series(
        history.machine,
        history.name,
        cell.label,
        cell.newest.unit,
        cell.newest.is_exact,
        history.environments[stretch.environment],
        stretch.version,
        history.commits[stretch.first : end],
        tuple(stretch.values),
    )


def _placed(history: BenchmarkHistory, stretch: Stretch, finding: Finding) -> CellChange:
    change, series = finding.change, finding.series
    after, number = stretch.first + change.after, stretch.first + change.index
    return CellChange(
        series.machine,
        series.benchmark,
        series.label,
        series.unit,
        change.kind,
        after,
        number,
        history.commits[after],
        history.commits[number],
        change.before_value,
        change.after_value,
        change.change,
        change.worse,
        finding.in_force,
        finding.confirmed,
    )
