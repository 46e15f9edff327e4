"""Figures that are exact: what one commit's plans cost, queue by queue, as JSON.

`python -m benchmarks.exact_figures` is started by `decider compare` once for each side. A plan that
costs more than the per-bucket grouping, or breaks an invariant, ends it with an error. It also says
which shapes the `decision` mix runs, so that changes of forwards can be weighed by traffic.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from benchmarks import plans, queues
from benchmarks.models import COSTS, MAX_BATCH, OVERHEAD, needs
from benchmarks.profiles import chosen

# Rows of a queue, and how many queues of that size.
SIZES = {8: 10, 32: 10, 128: 10, 1_024: 3}
TRAFFIC_MIX, TRAFFIC_ROWS, TRAFFIC_QUEUES = "decision", 32, 100


def figures() -> Iterator[tuple[str, dict[str, float]]]:
    """A label and the figures of each queue and cost model: costs, forwards, padded tokens, ledger.

    The costs of the plan and of per-bucket grouping are under the model that it was made with;
    everything else is priced on the ladder, which is what really runs.

    Raises:
        AssertionError: a plan costs more than per-bucket grouping.
        NotImplementedError: the commit under test has no planner.
    """
    totals = plans.Figures().totals
    for mix, (rows, count), cost in product(queues.MIXES, SIZES.items(), COSTS):
        for seed in range(count):
            found = totals([queues.queue(mix, rows, seed)], cost)
            yield (
                f"{mix}, {rows} rows, seed {seed}, {cost}",
                {
                    "cost": found["planned"],
                    "per-bucket cost": found["per_bucket"],
                    "forwards": found["forwards"],
                    "padded tokens": found["padded"],
                    **{part.replace("_", " "): found[part] for part in plans.PARTS},
                },
            )


def traffic() -> dict[str, int]:
    """Forwards by shape, `BxT`, in ladder plans of the `decision` mix on this machine's grid.

    Rows longer than the grid are cut to it: they would run at its largest shape.
    """
    from decider.batching import Planner
    from decider.costs import LadderCost

    grid = chosen().grid()
    planner = Planner(grid, LadderCost(OVERHEAD, grid), MAX_BATCH)
    counts: Counter[str] = Counter()
    for seed in range(TRAFFIC_QUEUES):
        lengths = [
            min(length, grid.length_buckets[-1])
            for length in queues.queue(TRAFFIC_MIX, TRAFFIC_ROWS, seed)
        ]
        for length, rows in planner.plan(lengths):
            counts[f"{grid.batch_bucket(len(rows))}x{length}"] += 1
    return dict(counts)


def document() -> dict[str, Any]:
    """All figures by queue, or a note that says why there are none."""
    try:
        needs(plans.Planner)
        return {"figures": dict(figures()), "traffic": traffic(), "note": None}
    except NotImplementedError as missing:
        return {"figures": {}, "traffic": {}, "note": str(missing)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the document."""
    argparse.ArgumentParser(
        prog="python -m benchmarks.exact_figures", description=__doc__
    ).parse_args(arguments)
    print(json.dumps(document()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
