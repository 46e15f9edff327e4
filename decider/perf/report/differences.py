"""Two results side by side: what differs, plainly. Draws no verdict.

An exact figure that differs has changed. Of a noisy one only the ratio is given, which says nothing
of whether it would come out again: that takes processes of both commits measured in turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from decider.perf.report.quantities import ratio
from decider.perf.report.result_file import Cell, Result, Status

Key = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Change:
    """A cell on both sides, of which the baseline's is `before`."""

    before: Cell
    now: Cell


@dataclass(frozen=True)
class Differences:
    """How a result differs from a baseline.

    Attributes:
        baseline: the other side.
        facts: what they were measured on where that differs: name, before, now.
        changed: exact figures that differ.
        unchanged: how many exact figures do not.
        turned: cells of which only one side is measured.
        not_compared: benchmarks that are not compared, and why.
        before: the baseline's value of every cell measured on both sides.
    """

    baseline: Result
    facts: tuple[tuple[str, str, str], ...]
    changed: tuple[Change, ...]
    unchanged: int
    turned: tuple[Change, ...]
    not_compared: tuple[tuple[str, str], ...]
    before: Mapping[Key, float]

    def ratio(self, cell: Cell) -> float:
        """`cell`'s value over the baseline's; NaN where one of them is missing or not above 0."""
        return ratio(cell.value, self.before.get((cell.benchmark, cell.parameters), math.nan))


def differences(result: Result, baseline: Result) -> Differences:
    """How `result` differs from `baseline`.

    Raises:
        ValueError: they are the same file.
    """
    if result.path == baseline.path:
        raise ValueError(
            f"the baseline is the result itself, commit {result.commit[:8]}: name another commit"
        )
    left_out = dict(_not_compared(result, baseline))
    pairs = [pair for pair in _pairs(result, baseline) if pair.now.benchmark not in left_out]
    both = [pair for pair in pairs if _statuses(pair) == {"measured"}]
    exact = [pair for pair in both if pair.now.is_exact]
    changed = tuple(pair for pair in exact if pair.before.value != pair.now.value)
    return Differences(
        baseline,
        tuple(_facts(result, baseline)),
        changed,
        len(exact) - len(changed),
        tuple(p for p in pairs if "measured" in _statuses(p) and len(_statuses(p)) == 2),
        tuple(left_out.items()),
        {(pair.now.benchmark, pair.now.parameters): pair.before.value for pair in both},
    )


def _statuses(pair: Change) -> set[Status]:
    return {pair.before.status, pair.now.status}


def _facts(result: Result, baseline: Result) -> Iterator[tuple[str, str, str]]:
    for name in {**baseline.facts, **result.facts}:
        before, now = (side.facts.get(name, "not known") for side in (baseline, result))
        if before != now:
            yield name, before, now


def _not_compared(result: Result, baseline: Result) -> Iterator[tuple[str, str]]:
    """Benchmarks of one side only, and those that measure something else on each side."""
    for name in sorted({*result.benchmarks, *baseline.benchmarks}):
        now, before = result.benchmarks.get(name), baseline.benchmarks.get(name)
        if now is None or before is None:
            yield name, "only in the baseline" if now is None else "not in the baseline"
        elif now.version != before.version:
            yield name, f"version {before.version} there, version {now.version} here"


def _pairs(result: Result, baseline: Result) -> Iterator[Change]:
    """The cells of both sides; one that a side lacks is absent there."""
    before = {(cell.benchmark, cell.parameters): cell for cell in baseline.cells}
    for cell in result.cells:
        other = before.pop((cell.benchmark, cell.parameters), None)
        yield Change(other or _absent(cell), cell)
    for cell in before.values():
        yield Change(cell, _absent(cell))


def _absent(cell: Cell) -> Cell:
    return Cell(cell.benchmark, cell.parameters, "absent", unit=cell.unit)
