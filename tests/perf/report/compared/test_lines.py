"""Both sides' cost models: sentences and diagram."""

from __future__ import annotations

import json
import math

from decider.perf.report.compared.cost_facts import cost_facts
from decider.perf.report.compared.lines import lines_chart
from tests.perf.report.comparison_parts import BATCHES, LENGTHS, cost_model
from tests.perf.report.comparisons import comparison, empty, one_sided, whole
from tests.perf.report.specifications import datasets


def test_lines_drift_and_what_the_constant_costs_are_told() -> None:
    found = cost_facts(whole())
    assert found.facts == (
        "Base: overhead 500 token-units (95% interval 460 to 540), a forward takes 2.00 ms and "
        "4.00 µs more for each padded token; fitted to 16 cells",
        "Head: overhead 550 token-units (95% interval 510 to 590), a forward takes 2.20 ms and "
        "4.00 µs more for each padded token; fitted to 16 cells",
        "The overhead of head is 1.100 times that of base (95% interval 1.020 to 1.190)",
        "Head ships 512: its plans take +0.31% beside those of the refitted constant on head",
    )
    assert found.notes == ("the intervals are over 14 pairs",)


def test_what_is_missing_is_told() -> None:
    facts = cost_facts(one_sided()).facts
    assert facts[1:] == (
        "Head has no line",
        "How the overhead drifted is not known",
        "Head ships 512; what its plans cost is not known",
    )
    model = cost_model() | {"constant": None, "ratio_low": None}
    model["head"] |= {"overhead": None}
    facts = cost_facts(comparison(cost_model=model)).facts
    assert facts[1] == "Head: no overhead could be fitted to 16 cells"
    assert facts[2].endswith("(no interval)")
    assert facts[3] == "Head ships no constant for this device"
    assert cost_facts(empty()).notes == ("No cost model was fitted.",)


def test_both_sides_stand_in_one_diagram_with_bands() -> None:
    chart = lines_chart(whole())
    assert chart is not None
    assert len(chart.rows) == 2 * len(BATCHES) * len(LENGTHS)
    assert {row[0] for row in chart.rows} == {"base", "head"}
    curves = next(d for d in datasets(chart.specification) if "low" in d[0])
    assert {point["side"] for point in curves} == {"base", "head"}
    assert all(point["low"] < point["milliseconds"] < point["high"] for point in curves)
    first = next(point for point in curves if point["side"] == "base")
    assert math.isclose(first["milliseconds"], 4e-3 * (500 + first["tokens"]), rel_tol=1e-4)
    assert math.isclose(first["low"], 4e-3 * (460 + first["tokens"]), rel_tol=1e-4)


def test_one_side_is_drawn_alone_and_none_not_at_all() -> None:
    chart = lines_chart(one_sided())
    assert chart is not None
    assert {row[0] for row in chart.rows} == {"base"}
    assert lines_chart(empty()) is None


def test_what_a_logarithmic_axis_cannot_show_is_left_out() -> None:
    model = cost_model()
    model["head"]["cells"] = [
        {"batch": 0, "length": 64, "seconds": 1.0},
        {"batch": -2, "length": 64, "seconds": 1.0},
        {"batch": 1, "length": 64, "seconds": 0.0},
    ]
    model["base"] |= {"low": -1e6, "high": None}
    chart = lines_chart(comparison(cost_model=model))
    assert chart is not None
    assert {row[0] for row in chart.rows} == {"base"}
    assert "NaN" not in json.dumps(chart.specification)
