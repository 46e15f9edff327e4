"""How a few figures went over the commits of one machine, with the steps that were found.

Steps are `decider.perf.history`'s. Only the figures named here are looked at: a page of one commit
is no place to search thousands of series, which `decider history` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from decider.perf.report.charts import Chart, Series, history_chart
from decider.perf.report.compared.words import signed
from decider.perf.report.quantities import counted, quantity
from decider.perf.report.result_file import EXACT, Result

if TYPE_CHECKING:
    from decider.perf.history import Change

FIGURES = (
    "end_to_end.EndToEnd.track_seconds_per_1000_rows",
    "forward.Forward.track_microseconds_per_real_token",
    "end_to_end.EndToEndVirtual.track_seconds_per_1000_rows",
)
LEAST_COMMITS = 3
MOST_SERIES = 24
MOST_DRAWN = 6
MOST_COMMITS = 500
MOST_STEPS = 50
"""Steps that are listed, those in force last; exact figures may change with every commit."""

MOST_MARKS = 20
"""Steps that are marked in one diagram."""


class Finder(Protocol):
    """What finds changes in values that stand in commit order: `find_changes`."""

    def __call__(self, values: Sequence[float], *, exact: bool) -> Sequence[Change]: ...


@dataclass(frozen=True)
class Step:
    """A change that was found.

    Attributes:
        series, kind, change, worse: what it is of, a step or a drift, its size, its direction.
        before, first: hashes of the last commit before it and of the first one after it.
        number: of that first one, in the order of the commits.
    """

    series: str
    kind: str
    change: str
    worse: bool
    before: str
    first: str
    number: int


@dataclass(frozen=True)
class History:
    """Diagrams, the steps of all of them, and a sentence on what was looked at."""

    note: str
    steps: tuple[Step, ...] = ()
    charts: tuple[Chart, ...] = ()


@dataclass(frozen=True)
class _Line:
    name: str
    unit: str
    commits: tuple[str, ...]
    values: tuple[float, ...]
    exact: bool
    changes: Sequence[Change] = ()


def history(results: Sequence[Result], newest: Result, find: Finder | None = None) -> History:
    """How the figures went up to `newest`.

    Args:
        results: of a results folder; those of other machines and environments are left out.
        newest: the result that the page is about.
        find: what finds changes; by default `decider.perf.history.find_changes`.
    """
    before = _alike(results, newest)
    if len(before) < LEAST_COMMITS:
        return History(
            f"{counted(len(before), 'commit')} measured here so far: a history begins with three."
        )
    lines = _lines(before, newest)
    searched, search = _searched(lines[:MOST_SERIES], find)
    searched.sort(key=lambda line: not line.changes)  # stable: the order of the figures stays
    drawn = searched[:MOST_DRAWN]
    steps = [step for line in searched for step in _steps(line)]
    note = (
        f"{counted(len(before), 'commit')} of machine {newest.machine}, the newest one last; "
        f"{len(drawn)} of {len(lines)} series are drawn. {search}"
    )
    if len(steps) > MOST_STEPS:
        note += f" Of {len(steps):,} changes the newest {MOST_STEPS} are listed."
    steps.sort(key=lambda step: step.number)
    return History(note, tuple(steps[-MOST_STEPS:]), tuple(map(_chart, drawn)))


def _searched(lines: Sequence[_Line], find: Finder | None) -> tuple[list[_Line], str]:
    """The lines with what was found in them, and a sentence on the search."""
    try:
        find = find or _finder()
        found = [replace(line, changes=find(line.values, exact=line.exact)) for line in lines]
    except ModuleNotFoundError as error:  # asv, which is no part of the report's extra
        return list(lines), f"Steps were not searched for: {error.name} is missing."
    return found, f"{len(lines)} were searched for steps; decider history searches every cell."


def _finder() -> Finder:
    from decider.perf.history import find_changes  # loads asv, which not every page needs

    return find_changes


def _alike(results: Sequence[Result], newest: Result) -> list[Result]:
    """One result a commit, oldest first, of the same machine and environment, up to `newest`."""
    environment = newest.environment
    of_commit = {
        result.commit: result
        for result in sorted(results, key=lambda result: result.age)
        if (result.machine, result.environment) == (newest.machine, environment)
        and result.age <= newest.age
    }
    return sorted(of_commit.values(), key=lambda result: result.age)[-MOST_COMMITS:]


def _lines(results: Sequence[Result], newest: Result) -> list[_Line]:
    """A line a cell; commits that measured another version of the benchmark have no value."""
    lines = []
    for figure in FIGURES:
        benchmark = newest.benchmarks.get(figure)
        known = [
            {cell.parameters: cell.value for cell in result.cells_of(figure)}
            if benchmark
            and (other := result.benchmarks.get(figure))
            and other.version == benchmark.version
            else {}
            for result in results
        ]
        for cell in benchmark.cells if benchmark else ():
            values = tuple(values.get(cell.parameters, math.nan) for values in known)
            if sum(map(math.isfinite, values)) >= LEAST_COMMITS:
                name = f"{figure}{f' ({cell.label})' if cell.label else ''}"
                commits = tuple(result.commit for result in results)
                lines.append(_Line(name, cell.unit, commits, values, figure.startswith(EXACT)))
    return lines


def _steps(line: _Line) -> list[Step]:
    return [
        Step(
            line.name,
            change.kind,
            signed(change.change),
            change.worse,
            line.commits[change.after],
            line.commits[change.index],
            change.index,
        )
        for change in line.changes
    ]


def _chart(line: _Line) -> Chart:
    drawn = [
        (number, commit[:8], value)
        for number, (commit, value) in enumerate(zip(line.commits, line.values, strict=True))
        if math.isfinite(value)
    ]
    records = [
        {"number": number, "commit": commit, "value": float(f"{value:.5g}")}
        for number, commit, value in drawn
    ]
    rows = [(commit, quantity(value, line.unit)) for _, commit, value in drawn]
    marks = [
        {"number": change.most_likely, "label": f"{_sign(change)} {signed(change.change)}"}
        for change in line.changes[-MOST_MARKS:]
    ]
    caption = f"In {line.unit or 'the benchmark’s unit'}; " + (
        "dashed lines mark what was found: ▲ worse, ▼ better." if marks else "no step was found."
    )
    return history_chart(line.name, caption, Series(records, ("commit", "value"), rows), marks)


def _sign(change: Change) -> str:
    return "▲" if change.worse else "▼"
