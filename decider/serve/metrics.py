"""A batcher's statistics as Prometheus metrics, read when they are asked for.

It counts nothing itself: `decider.serve.statistics` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any, Protocol

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from decider.serve.statistics import Histogram, Statistics

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

COUNTERS = {
    "requests": "Requests taken into the queue.",
    "answered_requests": "Requests of which every row was answered.",
    "failed_requests": "Requests of which a row failed, or whose engine died.",
    "cancelled_requests": "Requests whose client went away.",
    "rows": "Rows answered.",
    "failed_rows": "Rows that failed alone.",
    "cancelled_rows": "Rows that left the queue before they ran.",
    "collections": "Times the queue was planned.",
    "forwards": "Forwards that answered their rows.",
    "failed_forwards": "Forwards that raised.",
    "padded_tokens": "Batch times length of the shapes that ran.",
}
LEDGER = ("real_tokens", "length_rounding", "co_batch_padding", "empty_rows")
SECONDS = ("engine", "handover", "planner", "window", "idle")


class Observed(Protocol):
    """What is shown of a batcher."""

    stats: Statistics

    @property
    def queued_rows(self) -> int:
        """Rows that wait now."""
        ...

    @property
    def healthy(self) -> bool:
        """Whether requests are taken."""
        ...


class BatcherCollector(Collector):
    """Shows one batcher to a Prometheus registry."""

    def __init__(self, batcher: Observed) -> None:
        self._batcher = batcher

    def collect(self) -> Iterator[Metric]:
        stats = self._batcher.stats
        yield _gauge("healthy", "1 while requests are taken.", float(self._batcher.healthy))
        yield _gauge("queued_rows", "Rows that wait now.", self._batcher.queued_rows)
        yield _gauge("peak_queued_rows", "Most rows that ever waited.", stats.peak_queued_rows)
        for name, text in COUNTERS.items():
            yield CounterMetricFamily(f"decider_{name}", text, value=getattr(stats, name))
        yield _by_label(
            "ledger_tokens",
            "Waste ledger: padded tokens by what they are for.",
            "part",
            {part: getattr(stats, part) for part in LEDGER},
        )
        # A gauge: with a measured cost a forward may cost less than its padded tokens.
        yield _gauge(
            "ledger_overhead",
            "Waste ledger: cost beyond padded tokens, token-units.",
            stats.overhead,
        )
        yield _by_label(
            "seconds",
            "Where the batcher's time went.",
            "spent",
            {spent: getattr(stats, f"{spent}_seconds") for spent in SECONDS},
        )
        yield _by_label(
            "rejections", "Requests that were not taken.", "reason", dict(stats.rejections)
        )
        for bucket in ("batch", "length"):
            counts = getattr(stats, f"{bucket}_buckets")
            yield _by_label(
                f"{bucket}_bucket_forwards",
                f"Forwards by the {bucket} they ran at.",
                bucket,
                {str(value): count for value, count in sorted(counts.items())},
            )
        yield _histogram(
            "latency_seconds", "From submission to answer, answered requests.", stats.latency
        )


class Metrics:
    """The metrics page of one batcher, with a registry of its own."""

    def __init__(self, batcher: Observed) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(BatcherCollector(batcher))

    def page(self) -> bytes:
        """The metrics in Prometheus' text format, of content type `CONTENT_TYPE`."""
        return generate_latest(self._registry)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"decider_{name}", text, value=value)


def _by_label(name: str, text: str, label: str, values: Mapping[str, Any]) -> Metric:
    family = CounterMetricFamily(f"decider_{name}", text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family


def _histogram(name: str, text: str, histogram: Histogram) -> Metric:
    bounds = [*(f"{bound:g}" for bound in histogram.bounds), "+Inf"]
    buckets = list(zip(bounds, map(float, accumulate(histogram.counts)), strict=True))
    return HistogramMetricFamily(
        f"decider_{name}", text, buckets=buckets, sum_value=histogram.total
    )
