"""Time of planning, and its ratio to the textbook dynamic program.

`python -m benchmarks.planner` prints the table of docs/planner.md.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable

from benchmarks import queues
from benchmarks.models import COSTS, GRID, MAX_BATCH, cost_model, needs, textbook

try:
    from decider.batching import Planner
except ImportError:  # an older commit: skipped below
    Planner = None

SIZES = (1, 8, 32, 128, 1_024, 4_096)
RATIO_SIZES = (8, 32, 128, 1_024, 4_096, 65_536)
ROUNDS = 15
ROUND_S = 0.02


class Planning:
    """Seconds to plan one queue: the planner is made in advance, as in a server."""

    version = f"1-queues{queues.VERSION}"
    params = (queues.MIXES, SIZES, COSTS)
    param_names = ("mix", "rows", "cost")
    # 126 cells: short samples, many of them, keep the whole to about a minute.
    sample_time = 0.005
    repeat = (5, 30, 0.3)
    warmup_time = 0.02
    rounds = 1

    def setup(self, mix: str, rows: int, cost: str) -> None:
        needs(Planner)
        self.lengths = queues.queue(mix, rows)
        self.planner = Planner(GRID, cost_model(cost), MAX_BATCH)

    def time_plan(self, mix: str, rows: int, cost: str) -> None:
        self.planner.plan(self.lengths)


class PlanningRatio:
    """Time of planning over that of the textbook program, both taken in turn in one process."""

    version = f"1-queues{queues.VERSION}"
    params = (RATIO_SIZES,)
    param_names = ("rows",)
    unit = "ratio"
    timeout = 120

    def setup(self, rows: int) -> None:
        needs(Planner)

    def track_over_textbook(self, rows: int) -> dict[str, object]:
        samples = [planned / book for planned, book in paired_seconds("decision", rows)]
        return {"samples": samples, "number": 1}


def paired_seconds(mix: str, rows: int) -> list[tuple[float, float]]:
    """Seconds of one plan, by the planner and by the textbook program, a pair for each round.

    Rows above the last bucket are cut to it, since the textbook program knows only bucketed rows.
    The garbage collector stays on, as in a server.
    """
    lengths = [min(n, GRID.length_buckets[-1]) for n in queues.queue(mix, rows)]
    planner = Planner(GRID, cost_model("ladder"), MAX_BATCH)
    book = textbook("ladder")
    gc.collect()
    repeats = max(1, int(ROUND_S / _seconds(lambda: book.plan(lengths), 1)))
    pairs = []
    for _ in range(ROUNDS):
        planned = _seconds(lambda: planner.plan(lengths), repeats)
        pairs.append((planned, _seconds(lambda: book.plan(lengths), repeats)))
    return pairs


def _seconds(call: Callable[[], object], repeats: int) -> float:
    # Processor time: another process on the same core must not count for either side.
    begin = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - begin) / repeats


def main() -> None:
    """Print how many times faster than the textbook program the planner is."""
    print(f"Python {sys.version.split()[0]}, grid of {len(GRID.shapes)} shapes, ladder cost")
    print("| mix | rows | planner, us | textbook, us | times faster | lowest to highest round |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for mix in ("decision", "short", "equal"):
        for rows in RATIO_SIZES:
            pairs = paired_seconds(mix, rows)
            planned, book = (statistics.median(side) for side in zip(*pairs, strict=True))
            ratios = sorted(book / planned for planned, book in pairs)
            middle = statistics.median(ratios)
            print(
                f"| {mix} | {rows:,} | {planned * 1e6:,.0f} | {book * 1e6:,.0f} | {middle:.1f} | "
                f"{ratios[0]:.1f} to {ratios[-1]:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
