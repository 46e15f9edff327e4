"""Cost of plans: deterministic figures, compared exactly from commit to commit.

A plan that costs more than the per-bucket grouping, or breaks an invariant, fails its benchmark.
`python -m benchmarks.plans` prints the table of docs/planner.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks import queues
from benchmarks.models import COSTS, GRID, MAX_BATCH, OVERHEAD, cap, cost_model, needs

try:
    from decider.batching import (
        Planner,
        check_plan,
        explain,
        per_bucket_groups,
        plan_cost,
    )
except ImportError:  # an older commit: skipped below
    Planner = None

QUEUES = 20
SIZES = (8, 32, 128, 1_024)
TABLE_SIZES = (4, 8, 16, 32, 64, 128, 256)
TABLE_QUEUES = 200
TRACE_QUEUES = 300


class Figures:
    """Figures of plans over the same queues, summed over them before any ratio is taken.

    A plan is made with one of the cost models. Its cost over per-bucket grouping is priced with
    that model; everything else is priced on the ladder, which is what really runs.
    """

    def totals(self, waiting: list[list[int]], cost: str) -> dict[str, float]:
        """Check the plans of all queues and add up their figures."""
        needs(Planner)
        model, ladder = cost_model(cost), cost_model("ladder")
        planner = Planner(GRID, model, MAX_BATCH)
        total = dict.fromkeys(("planned", "per_bucket", "forwards", "padded", *PARTS), 0.0)
        for lengths in waiting:
            plan = planner.plan(lengths)
            check_plan(plan, lengths, GRID.pad_len, cap)
            baseline = per_bucket_groups(lengths, GRID.pad_len, GRID.max_rows, MAX_BATCH)
            planned, per_bucket = plan_cost(plan, cost=model), plan_cost(baseline, cost=model)
            if planned > per_bucket:
                raise AssertionError(f"{planned} > {per_bucket} per bucket: {cost} {lengths}")
            ledger = explain(plan, lengths, GRID.pad_len, ladder)
            if ledger.cost != plan_cost(plan, cost=ladder):
                raise AssertionError(f"the ledger does not sum to the cost: {cost} {lengths}")
            total["planned"] += planned
            total["per_bucket"] += per_bucket
            total["forwards"] += ledger.forwards
            total["padded"] += ledger.padded_tokens
            for part in PARTS:
                total[part] += getattr(ledger, part)
        return total


PARTS = ("real_tokens", "length_rounding", "co_batch_padding", "empty_rows", "overhead")


class Plans(Figures):
    """Plans of synthetic queues."""

    version = f"1-queues{queues.VERSION}"
    params = (queues.MIXES, SIZES, COSTS)
    param_names = ("mix", "rows", "cost")
    unit = "ratio"
    timeout = 300

    def setup_cache(self) -> dict[tuple[str, int, str], dict[str, float]]:
        if Planner is None:
            return {}
        return {
            (mix, rows, cost): self.totals(
                [queues.queue(mix, rows, seed) for seed in range(QUEUES)], cost
            )
            for mix in queues.MIXES
            for rows in SIZES
            for cost in COSTS
        }

    def setup(self, cache: dict, mix: str, rows: int, cost: str) -> None:
        needs(Planner)
        self.total = cache[mix, rows, cost]

    def track_cost_over_per_bucket(self, *_: object) -> float:
        return self.total["planned"] / self.total["per_bucket"]

    def track_forwards(self, *_: object) -> float:
        return self.total["forwards"] / QUEUES

    track_forwards.unit = "forwards"  # type: ignore[attr-defined]

    def track_padded_tokens_per_real_token(self, *_: object) -> float:
        return self.total["padded"] / self.total["real_tokens"]

    def track_length_rounding(self, *_: object) -> float:
        return self._per_real_token("length_rounding")

    def track_co_batch_padding(self, *_: object) -> float:
        return self._per_real_token("co_batch_padding")

    def track_empty_rows(self, *_: object) -> float:
        return self._per_real_token("empty_rows")

    def track_overhead(self, *_: object) -> float:
        return self._per_real_token("overhead")

    def _per_real_token(self, part: str) -> float:
        return self.total[part] / self.total["real_tokens"]


class TracePlans(Figures):
    """Plans of what waited in windows of real traces, where they are at hand."""

    version = f"1-queues{queues.VERSION}"
    params = (tuple(queues.TRACES), COSTS)
    param_names = ("trace", "cost")
    unit = "ratio"
    timeout = 300

    def setup(self, trace: str, cost: str) -> None:
        needs(Planner)
        waiting = queues.trace_queues(trace)
        if waiting is None:
            raise NotImplementedError(f"the {trace} trace is not here")
        self.total = self.totals(waiting[:TRACE_QUEUES], cost)

    def track_cost_over_per_bucket(self, *_: object) -> float:
        return self.total["planned"] / self.total["per_bucket"]

    def track_padded_tokens_per_real_token(self, *_: object) -> float:
        return self.total["padded"] / self.total["real_tokens"]


def ladder_costs(mix: str, rows: int) -> Iterator[tuple[float, float, float, float]]:
    """Per queue, on the ladder: per-bucket, linear and ladder plans, and the lower bound."""
    ladder = cost_model("ladder")
    planners = [Planner(GRID, cost_model(name), MAX_BATCH) for name in ("linear", "ladder")]
    for seed in range(TABLE_QUEUES):
        lengths = queues.queue(mix, rows, seed)
        baseline = per_bucket_groups(lengths, GRID.pad_len, GRID.max_rows, MAX_BATCH)
        linear, best = (plan_cost(p.plan(lengths), cost=ladder) for p in planners)
        pads = [GRID.pad_len(n) for n in lengths]
        bound = sum(T + OVERHEAD / cap(T) for T in pads)
        yield plan_cost(baseline, cost=ladder), linear, best, bound


def main() -> None:
    """Print what plans really cost, or draw where the cost goes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plans", description=__doc__)
    parser.add_argument("--picture", metavar="FILE.svg", help="draw the waste ledgers instead")
    arguments = parser.parse_args()
    if arguments.picture:
        draw(arguments.picture)
    else:
        print_table()


def print_table() -> None:
    """Mean cost on the ladder over the same queues, as a share of per-bucket grouping's."""
    print(f"{TABLE_QUEUES} queues each, overhead {OVERHEAD}, cost on the ladder over per-bucket's;")
    print("worst is the highest ladder / min(per-bucket, linear) of any queue")
    print("| mix | rows | linear | ladder | lower bound | ladder / linear | worst |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for mix in queues.MIXES:
        for rows in TABLE_SIZES:
            costs = list(ladder_costs(mix, rows))
            per_bucket, linear, ladder, bound = (sum(side) for side in zip(*costs, strict=True))
            worst = max(best / min(bucket, line) for bucket, line, best, _ in costs)
            print(
                f"| {mix} | {rows} | {linear / per_bucket:.3f} | {ladder / per_bucket:.3f} | "
                f"{bound / per_bucket:.3f} | {ladder / linear:.3f} | {worst:.3f} |"
            )


def draw(path: str) -> None:
    """The waste ledgers of 64 `decision` rows under each plan, as stacked bars in an SVG file."""
    import altair  # of the `report` extra; the benchmarks do without

    waiting = [queues.queue("decision", 64, seed) for seed in range(TABLE_QUEUES)]
    ladder = cost_model("ladder")
    values = []
    for name in ("per-bucket", "linear", "ladder"):
        for lengths in waiting:
            if name == "per-bucket":
                plan = per_bucket_groups(lengths, GRID.pad_len, GRID.max_rows, MAX_BATCH)
            else:
                plan = Planner(GRID, cost_model(name), MAX_BATCH).plan(lengths)
            ledger = explain(plan, lengths, GRID.pad_len, ladder)
            for order, part in enumerate(PARTS):
                tokens = getattr(ledger, part) / TABLE_QUEUES
                label = part.replace("co_batch", "co-batch").replace("_", " ")
                values.append({"plan": name, "part": label, "order": order, "tokens": tokens})
    parts = list(dict.fromkeys(value["part"] for value in values))
    chart = altair.Chart(
        altair.Data(values=values), width=640, height=altair.Step(34), background="white"
    )
    chart.mark_bar(stroke="white").encode(
        y=altair.Y("plan:N", sort=["per-bucket", "linear", "ladder"], title="planned with"),
        x=altair.X("sum(tokens):Q", title="mean cost of a queue on the ladder, token-units"),
        color=altair.Color("part:N", sort=parts, title=None).scale(
            domain=parts, scheme="tableau10"
        ),
        order="order:Q",
    ).save(path)


if __name__ == "__main__":
    main()
