"""The first page of the site: changes, machines and their benchmarks, commits, reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from decider.perf.history.results_history import BenchmarkHistory, Commit, Run
from decider.perf.site.changes import CellChange
from decider.perf.site.links import Links
from decider.perf.site.rendering import render_page
from decider.perf.site.reports import Report

MOST_CHANGES = 200
"""Changes on the first page; the others are on the pages of commits and benchmarks."""

MOST_PROBLEMS = 50


@dataclass(frozen=True)
class BenchmarkLine:
    """A benchmark's line: how much of it there is, and what became of it."""

    machine: str
    name: str
    cells: int
    commits: int
    newest: Commit
    worse: int
    better: int


@dataclass(frozen=True)
class CommitLine:
    """A commit's line."""

    commit: Commit
    machines: str
    cells: int
    failed: int
    changes: int


@dataclass
class Overview:
    """What the first page shows, gathered while the other pages are written."""

    benchmarks: list[BenchmarkLine] = field(default_factory=list)
    commits: list[CommitLine] = field(default_factory=list)
    changes: list[CellChange] = field(default_factory=list)
    reports: Sequence[Report] = ()
    problems: Sequence[str] = ()


def benchmark_line(
    history: BenchmarkHistory, changes: Mapping[str, Sequence[CellChange]]
) -> BenchmarkLine:
    """A benchmark's line on the first page."""
    found = [change for several in changes.values() for change in several]
    worse = sum(change.worse for change in found)
    return BenchmarkLine(
        history.machine,
        history.name,
        len(history.cells),
        len(history.commits),
        history.commits[-1],
        worse,
        len(found) - worse,
    )


def commit_line(commit: Commit, runs: Sequence[Run], changes: int) -> CommitLine:
    """A commit's line on the first page; `changes` is how many belong to it."""
    counts = [statuses for run in runs for statuses in run.statuses.values()]
    return CommitLine(
        commit,
        ", ".join(dict.fromkeys(run.machine for run in runs)),
        sum(count.get("measured", 0) for count in counts),
        sum(count.get("failed", 0) for count in counts),
        changes,
    )


def index_page(overview: Overview, links: Links) -> str:
    """The text of the page."""
    newest_first = sorted(
        overview.changes, key=lambda change: (change.commit, change.worse), reverse=True
    )
    machines: dict[str, list[BenchmarkLine]] = {}
    for line in overview.benchmarks:
        machines.setdefault(line.machine, []).append(line)
    return render_page(
        "index.html",
        "",
        overview=overview,
        machines=machines,
        changes=newest_first[:MOST_CHANGES],
        problems=overview.problems[:MOST_PROBLEMS],
        links=links,
    )
