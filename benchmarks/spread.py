"""How far two runs of the grid on the same commit lie apart, beside what each run claimed.

`python -m benchmarks.spread a.json b.json` prints a table in Markdown. The interval of a run speaks
of that process only; what two processes differ by shows what it leaves out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.grid_file import differences, read_document

Cells = Mapping[tuple[int, int], Mapping[str, Any]]


@dataclass(frozen=True)
class CellSpread:
    """One cell in two runs: medians in milliseconds, claimed relative half-widths."""

    batch: int
    length: int
    milliseconds: tuple[float, float]
    half_widths: tuple[float, float]
    overlap: bool
    """Whether the two intervals have a value in common."""

    @property
    def apart(self) -> float:
        """Difference of the medians as a share of their mean, signed: second run minus first."""
        first, second = self.milliseconds
        return (second - first) / ((first + second) / 2)


def spreads(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[CellSpread]:
    """The cells that both runs measured, in the order of the first.

    Raises:
        ValueError: the runs were measured on different things or have no cell in common; the
            message says which.
    """
    if found := differences(first, second):
        raise ValueError("not two runs of one grid: " + "; ".join(found))
    others = _cells(second)
    shared = [(cell, others[shape]) for shape, cell in _cells(first).items() if shape in others]
    if not shared:
        raise ValueError("the two runs have no cell in common")
    return [_spread(cell, other) for cell, other in shared]


def table(rows: Sequence[CellSpread]) -> str:
    """The spreads as a Markdown table, a line a cell, and what they come to."""
    lines = [
        "| batch | length | run 1, ms | run 2, ms | apart | claimed 1 | claimed 2 | overlap |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    lines += [
        f"| {row.batch} | {row.length} | {row.milliseconds[0]:.3f} | {row.milliseconds[1]:.3f} "
        f"| {row.apart:+.1%} | ±{row.half_widths[0]:.1%} | ±{row.half_widths[1]:.1%} "
        f"| {'yes' if row.overlap else 'no'} |"
        for row in rows
    ]
    return "\n".join([*lines, "", summary(rows)])


def summary(rows: Sequence[CellSpread]) -> str:
    """What the spreads come to, in one sentence."""
    apart = [abs(row.apart) for row in rows]
    claimed = [width for row in rows for width in row.half_widths]
    overlapping = sum(row.overlap for row in rows)
    return (
        f"{len(rows)} cells: the medians of the two runs lie {median(apart):.1%} apart in the "
        f"median cell and {max(apart):.1%} in the worst; the runs claimed ±{median(claimed):.1%} "
        f"in the median cell; the intervals overlap in {overlapping} cells."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status, 2 where the runs cannot be set side by side."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spread", description=__doc__)
    parser.add_argument("first", type=Path, help="a file of `python -m benchmarks.forward`")
    parser.add_argument("second", type=Path, help="another one of the same commit and machine")
    options = parser.parse_args(arguments)
    try:
        rows = spreads(read_document(options.first), read_document(options.second))
    except ValueError as error:
        sys.stderr.write(f"benchmarks.spread: {error}\n")
        return 2
    sys.stdout.write(table(rows) + "\n")
    return 0


def _cells(document: Mapping[str, Any]) -> Cells:
    return {(cell["batch"], cell["length"]): cell for cell in document["cells"]}


def _spread(cell: Mapping[str, Any], other: Mapping[str, Any]) -> CellSpread:
    (low, high), (other_low, other_high) = cell["interval"], other["interval"]
    return CellSpread(
        batch=cell["batch"],
        length=cell["length"],
        milliseconds=(cell["milliseconds"], other["milliseconds"]),
        half_widths=(cell["half_width"], other["half_width"]),
        overlap=low <= other_high and other_low <= high,
    )


if __name__ == "__main__":
    sys.exit(main())
