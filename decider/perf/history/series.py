"""Series of comparable values, out of asv's results: one machine, environment, version and cell.

Reading and arranging is shared with the history site; here a cell's stretches become series, their
commits get their order, and the places where a series was broken off are told. Judges nothing.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from decider.perf.history.results_history import (
    ASV_ENVIRONMENT,
    BenchmarkHistory,
    CellHistory,
    Commit,
    Facts,
    ResultsHistory,
    Stretch,
)
from decider.perf.history.results_reader import read_history

Progress = Callable[[str, int, int], None]
"""What is done, how many of it are done, how many there are."""


@dataclass(frozen=True)
class Series:
    """The values of one cell that may be compared, in commit order.

    Attributes:
        label: the cell's parameters for people; empty for a benchmark without any.
        exact: whether any difference is a change.
        environment: what it was measured on, without the machine's name.
        version: the benchmark's.
        values: one a commit; NaN where the cell was not measured.
    """

    machine: str
    benchmark: str
    label: str
    unit: str
    exact: bool
    environment: Facts
    version: str
    commits: tuple[Commit, ...]
    values: tuple[float, ...]

    @property
    def higher_is_better(self) -> bool:
        """Whether it is a rate. asv takes lower for better, and so does all that says nothing."""
        return is_rate(self.unit)

    @property
    def cell(self) -> str:
        """Benchmark and parameters: `forward.Forward.track_seconds (batch 1, length 64)`."""
        return f"{self.benchmark} ({self.label})" if self.label else self.benchmark


@dataclass(frozen=True)
class Break:
    """Where series of a machine end and others begin, since something else was measured.

    Attributes:
        what: what differs from then on: `torch 2.11 -> 2.12`.
        commit: the first one measured so.
        cells: how many it concerns.
    """

    machine: str
    what: str
    commit: Commit
    cells: int


@dataclass(frozen=True)
class SeriesFolder:
    """The series of a results folder, their breaks, and a sentence for each unreadable file."""

    series: tuple[Series, ...]
    breaks: tuple[Break, ...]
    commits: tuple[Commit, ...]
    unreadable: tuple[str, ...] = ()


def is_rate(unit: str) -> bool:
    """Whether more of a unit is better: rows/s, tokens per second, 1/s."""
    return bool(re.search(r"(/\s*s(ec(onds?)?)?|per second)$", unit.strip()))


def read_series(
    path: Path,
    machine: str | None = None,
    benchmark: str = "",
    progress: Progress = lambda *_: None,
) -> SeriesFolder:
    """The series in asv's results folder.

    Commits are in order of their time, and where times are equal in the order that the repository
    around the folder gives, if there is one.

    Args:
        path: the folder.
        machine: only this machine's.
        benchmark: only cells whose name and parameters this regular expression finds.
        progress: told of every file.

    Raises:
        ValueError: there is no folder, no result that can be read, no such machine, or the
            expression is none.
    """
    try:
        wanted = re.compile(benchmark)
    except re.error as error:
        raise ValueError(f"--benchmark {benchmark!r} is no regular expression: {error}") from None
    history, unreadable = read_history(path, progress)
    machines = sorted({run.machine for run in history.runs})
    if machine is not None and machine not in machines:
        raise ValueError(
            f"{path}: no result of machine {machine!r}; there are {', '.join(machines)}"
        )
    measured = {run.commit for run in history.runs if machine in (None, run.machine)}
    rank = _ranks(path, sorted(measured))
    series: list[Series] = []
    breaks: Counter[tuple[str, str, Commit]] = Counter()
    for arranged in _chosen(history, machine):
        for cell in arranged.cells:
            own = [_series(arranged, cell, stretch, rank) for stretch in cell.stretches]
            own = [one for one in own if wanted.search(one.cell)]
            own.sort(key=lambda one: rank[one.commits[0]])
            series += own
            breaks.update(_breaks(own, rank))
    ordered = sorted(breaks.items(), key=lambda item: (rank[item[0][2]], item[0]))
    return SeriesFolder(
        tuple(series),
        tuple(Break(*key, count) for key, count in ordered),
        tuple(sorted(measured, key=rank.__getitem__)),
        tuple(unreadable),
    )


def _chosen(history: ResultsHistory, machine: str | None) -> Iterator[BenchmarkHistory]:
    return (one for one in history.benchmarks() if machine in (None, one.machine))


def _series(
    history: BenchmarkHistory, cell: CellHistory, stretch: Stretch, rank: Mapping[Commit, int]
) -> Series:
    commits = history.commits[stretch.first : stretch.first + len(stretch.values)]
    placed = sorted(zip(commits, stretch.values, strict=True), key=lambda item: rank[item[0]])
    return Series(
        history.machine,
        history.name,
        cell.label,
        cell.newest.unit,
        cell.newest.is_exact,
        history.environments[stretch.environment],
        stretch.version,
        tuple(commit for commit, _ in placed),
        tuple(value for _, value in placed),
    )


def _breaks(
    series: Sequence[Series], rank: Mapping[Commit, int]
) -> Iterator[tuple[str, str, Commit]]:
    """A break for each series that begins after another of its cell has ended.

    Environments that are measured side by side break nothing off.
    """
    for number, later in enumerate(series):
        ended = [one for one in series[:number] if rank[one.commits[-1]] < rank[later.commits[0]]]
        if ended:
            earlier = max(ended, key=lambda one: rank[one.commits[-1]])
            yield later.machine, _difference(earlier, later), later.commits[0]


def _difference(earlier: Series, later: Series) -> str:
    before, now = dict(earlier.environment), dict(later.environment)
    names = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    if len(names) > 1 and ASV_ENVIRONMENT in names:
        names.remove(ASV_ENVIRONMENT)  # it only repeats what the others say
    changes = [
        f"{name} {before.get(name, 'unknown')} -> {now.get(name, 'unknown')}" for name in names
    ]
    if earlier.version != later.version:
        changes.append(f"version of {later.benchmark} {_short(earlier)} -> {_short(later)}")
    return ", ".join(changes)


def _short(series: Series) -> str:
    """asv's own versions are long hashes."""
    return series.version[:12] or "none"


def _ranks(path: Path, commits: Sequence[Commit]) -> dict[Commit, int]:
    """The place of each commit; git is asked only where times are equal."""
    times = Counter(commit.committed for commit in commits)
    tied = max(times.values(), default=1) > 1
    order = _git_order(path) if tied else {}
    last = len(order)
    placed = sorted(commits, key=lambda c: (c.committed, order.get(c.hash, last), c.hash))
    return {commit: place for place, commit in enumerate(placed)}


def _git_order(path: Path) -> dict[str, int]:
    """Place by hash, parents before children; empty without a repository or without git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(path), "rev-list", "--topo-order", "--reverse", "--all"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return {}
    return {name: place for place, name in enumerate(done.stdout.split())}
