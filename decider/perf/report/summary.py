"""What was measured, in short: facts, one sentence, what failed, and how to measure it again."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from decider.perf.report.quantities import counted, quantity
from decider.perf.report.result_file import Result

NOT_RECORDED = "not recorded"
MOST_NAMED = 12
_FIRST_FACTS = ("cpu", "num_cpu", "gpu", "ram", "os", "python", "torch")


@dataclass(frozen=True)
class Summary:
    """The head of a report.

    Attributes:
        facts: name and value, the commit first.
        sentence: how much was measured, failed and was skipped.
        failed: benchmarks with failed cells, each with their number.
        commands: what measures the commit again and makes this page of it.
    """

    facts: tuple[tuple[str, str], ...]
    sentence: str
    failed: tuple[str, ...]
    commands: tuple[str, ...]


def summary(
    result: Result, baseline: Result | None = None, grid_file: Path | None = None
) -> Summary:
    """The head of the report of `result`."""
    return Summary(
        tuple(_facts(result)),
        _sentence(result),
        tuple(_failed(result)),
        tuple(_commands(result, baseline, grid_file)),
    )


def moment(time: datetime) -> str:
    """A time for people, in UTC."""
    return f"{time:%Y-%m-%d %H:%M} UTC"


def _facts(result: Result) -> Iterator[tuple[str, str]]:
    yield "commit", result.commit
    yield "committed", moment(result.committed)
    times = dict.fromkeys(map(moment, result.measured or ()))  # one, where both read alike
    yield "measured", " to ".join(times) or NOT_RECORDED
    yield "machine", result.machine
    others = [name for name in result.facts if name not in (*_FIRST_FACTS, "machine")]
    for name in (*_FIRST_FACTS, *others):
        value = result.facts.get(name, NOT_RECORDED)
        if name == "ram" and value.isdecimal():  # asv has it in bytes here, in KiB elsewhere
            value = quantity(float(value) * (1 if len(value) > 9 else 1024), "bytes")
        yield {"num_cpu": "processors", "ram": "memory"}.get(name, name), value


def _sentence(result: Result) -> str:
    cells = result.cells
    if not cells:
        return "The result holds no benchmark."
    statuses = Counter(cell.status for cell in cells)
    said = ", ".join(
        f"{statuses[status]:,} {status}" for status in ("measured", "failed", "skipped")
    )
    what = f"{counted(len(result.benchmarks), 'benchmark')} with {counted(len(cells), 'cell')}"
    noisy = [cell for cell in cells if cell.status == "measured" and not cell.is_exact]
    bare = sum(not cell.samples for cell in noisy)
    lost = f" No samples were recorded for {bare:,} of the noisy ones." if bare else ""
    return f"{what}: {said}.{lost}"


def _failed(result: Result) -> Iterator[str]:
    failed: Sequence[tuple[str, int]] = Counter(
        cell.benchmark for cell in result.cells if cell.status == "failed"
    ).most_common()
    for name, count in failed[:MOST_NAMED]:
        yield f"{name} ({counted(count, 'cell')})"
    if len(failed) > MOST_NAMED:
        yield f"and {len(failed) - MOST_NAMED} more"


def _commands(result: Result, baseline: Result | None, grid_file: Path | None) -> Iterator[str]:
    for side in (result, baseline):
        if side:
            yield shlex.join(["asv", "run", "--record-samples", f"{side.commit[:12]}^!"])
    words = ["decider", "report", "--machine", result.machine, "--commit", result.commit[:12]]
    if baseline:
        words += ["--baseline", baseline.commit[:12]]
    if grid_file:
        words += ["--grid", str(grid_file)]
    yield shlex.join(words)
