"""What a batcher has done since it started: counts, tokens, seconds and latencies.

Plain numbers that one event loop writes. `decider.serve.metrics` shows them to Prometheus; this
file knows no HTTP, no planner and no engine.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from decider.grid import Shape
from decider.ledger import WasteLedger

LATENCY_BOUNDS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    *(1.0, 2.0, 5.0, 10.0, 20.0, 60.0),
)
"""Upper ends, in seconds, of the latency histogram's bins; a last bin takes what is above."""


@dataclass
class Histogram:
    """Counts of values in bins that stay the same, and the sum of the values.

    A value belongs to the first bin whose bound it does not exceed.
    """

    bounds: tuple[float, ...] = LATENCY_BOUNDS
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = self.counts or [0] * (len(self.bounds) + 1)

    def add(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def bound_below_which(self, share: float) -> float | None:
        """The least bound that at least `share` of the values do not exceed.

        None where there are no values, or where too many are above the last bound.
        """
        wanted = share * sum(self.counts)
        seen = 0
        for bound, count in zip(self.bounds, self.counts, strict=False):
            seen += count
            if seen and seen >= wanted:
                return bound
        return None


@dataclass
class Statistics:
    """Counters of one batcher; all of them only ever grow.

    Attributes:
        requests: taken into the queue. Each is later in exactly one of the next three.
        answered_requests: every row was answered.
        failed_requests: a row failed, or the engine died.
        cancelled_requests: whoever asked went away.
        rows: answered, those that nobody waited for any more among them.
        failed_rows: failed alone.
        cancelled_rows: left the queue before they ran.
        rejections: requests that were not taken, by reason.
        collections: times the queue was planned; one forward runs for each, more only after one
            failed.
        forwards: that answered their rows.
        failed_forwards: that raised.
        real_tokens, length_rounding, co_batch_padding, empty_rows, overhead: the waste ledger of
            all forwards, in token-units, at the shapes that ran and with the planner's own cost.
        batch_buckets, length_buckets: forwards by batch and by padded length of their shape.
        engine_seconds: inside the engine.
        handover_seconds: between the event loop and the engine's thread, both ways.
        planner_seconds: planning.
        window_seconds: waiting for company while rows were there and the engine was idle.
        idle_seconds: with nothing to do.
        latency: seconds from submission to answer of every answered request.
        peak_queued_rows: the most rows that ever waited. It is no counter.
    """

    requests: int = 0
    answered_requests: int = 0
    failed_requests: int = 0
    cancelled_requests: int = 0
    rows: int = 0
    failed_rows: int = 0
    cancelled_rows: int = 0
    rejections: Counter[str] = field(default_factory=Counter)
    collections: int = 0
    forwards: int = 0
    failed_forwards: int = 0
    real_tokens: int = 0
    length_rounding: int = 0
    co_batch_padding: int = 0
    empty_rows: int = 0
    overhead: float = 0
    batch_buckets: Counter[int] = field(default_factory=Counter)
    length_buckets: Counter[int] = field(default_factory=Counter)
    engine_seconds: float = 0.0
    handover_seconds: float = 0.0
    planner_seconds: float = 0.0
    window_seconds: float = 0.0
    idle_seconds: float = 0.0
    latency: Histogram = field(default_factory=Histogram)
    peak_queued_rows: int = 0

    @property
    def padded_tokens(self) -> int:
        """B*T summed over the forwards."""
        return self.real_tokens + self.length_rounding + self.co_batch_padding + self.empty_rows

    def count_forward(self, shape: Shape, rows: int, ledger: WasteLedger) -> None:
        """Count a forward that answered `rows` rows at a shape."""
        self.forwards += 1
        self.rows += rows
        self.real_tokens += ledger.real_tokens
        self.length_rounding += ledger.length_rounding
        self.co_batch_padding += ledger.co_batch_padding
        self.empty_rows += ledger.empty_rows
        self.overhead += ledger.overhead
        self.batch_buckets[shape.batch] += 1
        self.length_buckets[shape.length] += 1

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain JSON values, with percentiles as the bounds of their bins."""
        values = dict(vars(self))
        for name in ("batch_buckets", "length_buckets"):
            values[name] = {str(bucket): count for bucket, count in sorted(values[name].items())}
        latency = {
            "count": sum(self.latency.counts),
            "sum_seconds": self.latency.total,
            "bounds_seconds": list(self.latency.bounds),
            "counts": list(self.latency.counts),
            "at_most_seconds": {
                f"p{share:g}": self.latency.bound_below_which(share / 100) for share in (50, 95, 99)
            },
        }
        rejections = dict(sorted(self.rejections.items()))
        return {
            **values,
            "padded_tokens": self.padded_tokens,
            "rejections": rejections,
            "latency": latency,
        }
