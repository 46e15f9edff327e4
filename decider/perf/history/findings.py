"""What changed in the series of a results folder, and whether it still holds.

Searches every series and filters; writes and prints nothing.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from decider.perf.history.changes import Change, find_changes
from decider.perf.history.results_history import Commit
from decider.perf.history.series import Series
from decider.perf.history.steps import LEAST_COMMITS

MANY_VALUES = 100_000
"""Noisy values from which on several processes search: some ten seconds of one."""

CONFIRMED = 0.01
"""Share of the confirmed series that chance alone may have confirmed."""

HELD = 0.5
"""Share of a change that must be left at the newest commit for it to count as in force."""


@dataclass(frozen=True)
class Finding:
    """A change of a series.

    Attributes:
        in_force: whether at least half of it is left at the newest commit measured.
        confirmed: whether it is still clear beside the number of series that were searched. Of
            hundreds, some show a change by chance.
    """

    series: Series
    change: Change
    in_force: bool
    confirmed: bool

    @property
    def after(self) -> Commit:
        """The last commit known to be before it."""
        return self.series.commits[self.change.after]

    @property
    def commit(self) -> Commit:
        """The first commit known to be after it."""
        return self.series.commits[self.change.index]

    @property
    def most_likely(self) -> Commit:
        """The commit that most likely made a step."""
        return self.series.commits[self.change.most_likely]

    @property
    def range(self) -> str:
        """The commits among which the cause is, for `git log`."""
        return f"{self.after.hash[:8]}..{self.commit.hash[:8]}"

    @property
    def is_worse(self) -> bool:
        """Whether it is for the worse and still in force."""
        return self.change.worse and self.in_force

    @property
    def is_regression(self) -> bool:
        """Whether it is for the worse, still in force and confirmed."""
        return self.is_worse and self.confirmed


@dataclass(frozen=True)
class Search:
    """What the search of some series gave.

    Attributes:
        findings: regressions first, then what is worse otherwise, each by size.
        searched: series long enough for a change to be found.
        noisy: those of them whose figures are not exact.
        too_short: series with fewer measured commits than that.
        unmeasured: series without any value.
    """

    findings: tuple[Finding, ...]
    searched: int
    noisy: int
    too_short: int
    unmeasured: int


def search(
    series: Sequence[Series], progress: Callable[[int, int], None] = lambda *_: None
) -> Search:
    """Every change in every series. `progress` is told how many series are done, and of how many.

    A series of many is searched by as many processes as there are processors.
    """
    measured = [sum(map(math.isfinite, one.values)) for one in series]
    least = [2 if one.exact else LEAST_COMMITS for one in series]
    short = sum(0 < count < needed for count, needed in zip(measured, least, strict=True))
    found: list[list[Change]] = []
    for changes in _changes(series):
        found.append(changes)
        progress(len(found), len(series))
    noisy = [
        changes
        for one, count, changes in zip(series, measured, found, strict=True)
        if not one.exact and count >= LEAST_COMMITS
    ]
    limit = confirmed_up_to([min((c.chance for c in own), default=1.0) for own in noisy])
    findings = [
        Finding(one, change, is_in_force(changes, change), one.exact or change.chance <= limit)
        for one, changes in zip(series, found, strict=True)
        for change in changes
    ]
    return Search(
        tuple(sorted(findings, key=_rank)),
        len(series) - short - measured.count(0),
        len(noisy),
        short,
        measured.count(0),
    )


def confirmed_up_to(chances: Sequence[float]) -> float:
    """The largest chance of a confirmed change, of the clearest one in each series.

    Benjamini and Hochberg's rule (1995): of the series confirmed, one in a hundred is so by chance;
    where nothing changed, one search in a hundred confirms anything.
    """
    ordered = sorted(chances)
    limits = [CONFIRMED * (place + 1) / len(ordered) for place in range(len(ordered))]
    passed = [limit for one, limit in zip(ordered, limits, strict=True) if one <= limit]
    return max(passed, default=0.0)


def is_in_force(changes: Sequence[Change], change: Change) -> bool:
    """Whether half of a change, or more, is left after the last one of its series."""
    step = change.after_value - change.before_value
    left = changes[-1].after_value - change.before_value
    return left >= HELD * step if step > 0 else left <= HELD * step


def _changes(series: Sequence[Series]) -> Iterator[list[Change]]:
    noisy = sum(len(one.values) for one in series if not one.exact)
    processes = os.cpu_count() or 1
    if noisy < MANY_VALUES or processes == 1:
        yield from map(_changes_of, series)
        return
    # A new interpreter each: a fork would copy the threads' locks of whoever calls.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_changes_of, series, chunksize=20)


def _changes_of(series: Series) -> list[Change]:
    return find_changes(series.values, higher_is_better=series.higher_is_better, exact=series.exact)


def _rank(finding: Finding) -> tuple[bool, bool, bool, float, str, str, int]:
    size = abs(finding.change.change)
    return (
        not finding.is_regression,
        not finding.is_worse,
        not finding.change.worse,
        -size if not math.isnan(size) else 0.0,
        finding.series.machine,
        finding.series.cell,
        finding.change.index,
    )
