"""asv's results arranged by benchmark and commit.

Takes results one after the other and keeps their values only, so that years of results with all
their samples need not fit into memory. Judges nothing.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from decider.perf.report.result_file import Cell, Result, Status

Facts = tuple[tuple[str, str], ...]
"""What something was measured on: names and values, in order of the names."""

ASV_ENVIRONMENT = "asv environment"


@dataclass(frozen=True, order=True)
class Commit:
    """A commit that was measured; they are ordered by time, and by hash where times are equal."""

    committed: datetime
    hash: str


@dataclass(frozen=True)
class Run:
    """One result file without its values; `statuses` counts cells by benchmark and status."""

    machine: str
    commit: Commit
    measured: tuple[datetime, datetime] | None
    environment: Facts
    statuses: Mapping[str, Mapping[Status, int]]

    @property
    def age(self) -> tuple[Commit, datetime]:
        """What runs are ordered by: their commit, then the end of the measurement."""
        return self.commit, self.measured[1] if self.measured else self.commit.committed


@dataclass(frozen=True)
class Stretch:
    """One cell over commits that may be compared: one environment, one version.

    Attributes:
        environment: its number among the benchmark's.
        version: as the benchmark declares it.
        first: number of the first commit among the benchmark's.
        values: one a commit from the first on; NaN where there is none.
    """

    environment: int
    version: str
    first: int
    values: Sequence[float]


@dataclass(frozen=True)
class CellHistory:
    """One cell over the commits.

    Attributes:
        newest: what the newest run with it says of it, without samples.
        newest_commit: number of that run's commit among the benchmark's.
    """

    label: str
    newest: Cell
    newest_commit: int
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True)
class BenchmarkHistory:
    """One benchmark on one machine; its commits are those that have it, in order."""

    machine: str
    name: str
    commits: tuple[Commit, ...]
    environments: tuple[Facts, ...]
    cells: tuple[CellHistory, ...]


@dataclass(frozen=True)
class _Column:
    """The values of one benchmark in one run, as long as its cells are."""

    run: Run
    version: str
    labels: tuple[str, ...]
    values: array[float]


@dataclass
class _Benchmark:
    columns: list[_Column] = field(default_factory=list)
    newest: dict[str, tuple[Run, Cell]] = field(default_factory=dict)


class ResultsHistory:
    """Results, arranged. Attributes: `runs`, in the order in which they came."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self._commits: dict[str, Commit] = {}
        self._benchmarks: dict[tuple[str, str], _Benchmark] = {}

    def add(self, result: Result) -> None:
        """Take the values of a result over."""
        # One time a commit, whatever the files say: a commit has one place among the others.
        commit = self._commits.setdefault(result.commit, Commit(result.committed, result.commit))
        run = Run(
            result.machine,
            commit,
            result.measured,
            _environment(result),
            {
                name: Counter(cell.status for cell in benchmark.cells)
                for name, benchmark in result.benchmarks.items()
            },
        )
        self.runs.append(run)
        for name, benchmark in result.benchmarks.items():
            kept = self._benchmarks.setdefault((run.machine, name), _Benchmark())
            labels = tuple(cell.label for cell in benchmark.cells)
            if kept.columns and kept.columns[-1].labels == labels:
                labels = kept.columns[-1].labels  # one copy of them for all columns
            values = array("d", (cell.value for cell in benchmark.cells))
            kept.columns.append(_Column(run, benchmark.version, labels, values))
            for label, cell in zip(labels, benchmark.cells, strict=True):
                known = kept.newest.get(label)
                if known is None or known[0].age <= run.age:
                    kept.newest[label] = run, _without_samples(cell)

    @property
    def commits(self) -> list[Commit]:
        """Every commit, in order."""
        return sorted(self._commits.values())

    @property
    def names(self) -> list[tuple[str, str]]:
        """Machine and name of every benchmark, in order."""
        return sorted(self._benchmarks)

    def benchmarks(self) -> Iterator[BenchmarkHistory]:
        """The benchmarks' histories, in the order of `names`."""
        for machine, name in self.names:
            yield _history(machine, name, self._benchmarks[machine, name])


def _environment(result: Result) -> Facts:
    """What a result was measured on. Results that differ in it are not compared."""
    facts = {name: value for name, value in result.facts.items() if name != "machine"}
    if result.environment:  # paired runs have one of their own on the same machine
        facts[ASV_ENVIRONMENT] = result.environment
    return tuple(sorted(facts.items()))


def _without_samples(cell: Cell) -> Cell:
    return Cell(cell.benchmark, cell.parameters, cell.status, cell.value, cell.unit, cell.interval)


def _history(machine: str, name: str, kept: _Benchmark) -> BenchmarkHistory:
    columns = sorted(kept.columns, key=lambda column: column.run.age)
    commits = sorted({column.run.commit for column in columns})
    numbers = {commit: number for number, commit in enumerate(commits)}
    environments = list(dict.fromkeys(column.run.environment for column in columns))
    # By cell, then by what may be compared: values by the number of their commit. The run that
    # ended last is the one that counts for its commit.
    found: dict[str, dict[tuple[int, str], dict[int, float]]] = {}
    for column in columns:
        place = environments.index(column.run.environment), column.version
        number = numbers[column.run.commit]
        for label, value in zip(column.labels, column.values, strict=True):
            found.setdefault(label, {}).setdefault(place, {})[number] = value
    cells = []
    for label, stretches in found.items():
        run, newest = kept.newest[label]
        filled = tuple(_stretch(*place, values) for place, values in stretches.items())
        cells.append(CellHistory(label, newest, numbers[run.commit], filled))
    return BenchmarkHistory(machine, name, tuple(commits), tuple(environments), tuple(cells))


def _stretch(environment: int, version: str, values: Mapping[int, float]) -> Stretch:
    first, last = min(values), max(values)
    filled = [values.get(number, math.nan) for number in range(first, last + 1)]
    return Stretch(environment, version, first, filled)
