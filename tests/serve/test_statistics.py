from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from decider.grid import Shape
from decider.ledger import WasteLedger
from decider.serve.metrics import Metrics
from decider.serve.statistics import LATENCY_BOUNDS, Histogram, Statistics
from tests.serve.fakes import batcher


@given(st.lists(st.floats(0, 100)), st.floats(0.01, 1))
def test_a_histogram_bounds_its_percentiles(values: list[float], share: float) -> None:
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    for place, bound in enumerate(LATENCY_BOUNDS):
        assert sum(histogram.counts[: place + 1]) == sum(value <= bound for value in values)
    bound = histogram.bound_below_which(share)
    holding = [
        b for b in LATENCY_BOUNDS if values and sum(v <= b for v in values) >= share * len(values)
    ]
    assert bound == next((b for b in holding if any(v <= b for v in values)), None)


def statistics() -> Statistics:
    stats = Statistics()
    stats.count_forward(Shape(4, 64), 3, WasteLedger(100, 60, 32, 64, 5, 1))
    stats.count_forward(Shape(1, 128), 1, WasteLedger(70, 58, 0, 0, -2.5, 1))
    stats.rejections["overloaded"] += 2
    stats.latency.add(0.03)
    return stats


def test_statistics_as_json_are_plain_and_add_up() -> None:
    values = json.loads(json.dumps(statistics().to_dict()))
    assert values["batch_buckets"] == {"1": 1, "4": 1}
    assert values["length_buckets"] == {"64": 1, "128": 1}
    assert values["padded_tokens"] == 4 * 64 + 128
    assert values["overhead"] == 2.5
    assert values["rejections"] == {"overloaded": 2}
    assert values["latency"]["at_most_seconds"] == {"p50": 0.05, "p95": 0.05, "p99": 0.05}


def test_the_prometheus_page_says_the_same() -> None:
    watched = batcher()
    watched.stats = statistics()
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(Metrics(watched).page().decode())
        for sample in family.samples
    }
    assert samples["decider_healthy",] == 0
    assert samples["decider_rows_total",] == 4
    assert samples["decider_padded_tokens_total",] == 384
    assert samples["decider_ledger_overhead",] == 2.5
    assert samples["decider_ledger_tokens_total", "real_tokens"] == 170
    assert samples["decider_rejections_total", "overloaded"] == 2
    assert samples["decider_batch_bucket_forwards_total", "4"] == 1
    assert samples["decider_length_bucket_forwards_total", "128"] == 1
    assert samples["decider_latency_seconds_bucket", "0.02"] == 0
    assert samples["decider_latency_seconds_bucket", "0.05"] == 1
    assert samples["decider_latency_seconds_bucket", "+Inf"] == 1
