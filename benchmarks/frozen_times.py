"""A measured table that stays as it is: the forwards of the virtual-time benchmark.

Each cell has two times, from alternate blocks of one measurement: policies are derived from the
first and forwards take the second, as a server plans with what was measured yesterday. Planning
with the very times that forwards take would credit a policy with knowing their noise.

`python -m benchmarks.frozen_times grid.json` freezes another file of `benchmarks.forward`. Do so
only together with a new `VERSION`: results before and after are not comparable.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

VERSION = "1"
PATH = Path(__file__).with_suffix(".json")

Milliseconds = dict[tuple[int, int], float]


class FrozenTimes(NamedTuple):
    """Milliseconds by (batch, length): to plan with, and as forwards take them."""

    planned_with: Milliseconds
    run_at: Milliseconds
    source: str


def frozen_times(path: Path = PATH) -> FrozenTimes:
    """The table that is frozen in this folder."""
    document = json.loads(path.read_text(encoding="utf-8"))
    planned_with, run_at = {}, {}
    for batch, length, first, second in document["cells"]:
        planned_with[batch, length] = first
        run_at[batch, length] = second
    return FrozenTimes(planned_with, run_at, document["source"])


def halves(blocks: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Medians over the blocks at even and at odd places, of the blocks' medians."""
    medians = [median(block) for block in blocks]
    return median(medians[::2]), median(medians[1::2])


def frozen_text(grid_file: Mapping[str, Any]) -> str:
    """A grid file as the frozen one, a line a cell.

    Raises:
        ValueError: it is not complete, or a cell has fewer than two blocks.
    """
    if not grid_file["complete"]:
        raise ValueError("the measurement was interrupted: finish it with --resume")
    lines = []
    for cell in grid_file["cells"]:
        if len(cell["blocks"]) < 2:
            raise ValueError(f"cell ({cell['batch']}, {cell['length']}) has fewer than two blocks")
        times = [round(ms, 3) for ms in halves(cell["blocks"])]
        lines.append("  " + json.dumps([cell["batch"], cell["length"], *times]))
    environment = grid_file["environment"]
    source = (
        f"python -m benchmarks.forward --profile {grid_file['profile']}: {environment['cpu']}, "
        f"{environment['threads']} thread, torch {environment['torch']}"
    )
    head = f' "source": {json.dumps(source)},\n "columns": {json.dumps(COLUMNS)},\n'
    return "{\n" + head + ' "cells": [\n' + ",\n".join(lines) + "\n ]\n}\n"


COLUMNS = ["batch", "length", "milliseconds to plan with", "milliseconds a forward takes"]


def main() -> None:
    """Freeze a grid file."""
    from decider.files import write_text

    parser = argparse.ArgumentParser(prog="python -m benchmarks.frozen_times", description=__doc__)
    parser.add_argument("grid", type=Path, help="what python -m benchmarks.forward wrote")
    grid_file = json.loads(parser.parse_args().grid.read_text(encoding="utf-8"))
    write_text(PATH, frozen_text(grid_file))


if __name__ == "__main__":
    main()
