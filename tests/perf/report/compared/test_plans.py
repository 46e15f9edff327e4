"""Plans of both sides: costs over per-bucket grouping and waste ledgers."""

from __future__ import annotations

from typing import Any

from decider.perf.report.compared.plans import ComparedPlans, compared_plans
from tests.perf.report.comparison_parts import exact, plan_totals
from tests.perf.report.comparisons import comparison, empty

CHAT, SHORT = "chat, 128 rows, ladder", "short, 8 rows, ladder"


def _of(*totals: dict[str, Any]) -> ComparedPlans:
    return compared_plans(comparison(exact=exact([]) | {"totals": list(totals)}))


def test_the_cost_over_per_bucket_is_heads_and_bases_is_told() -> None:
    rises = {"cost": 1_900.0, "overhead": 550.0}
    found = _of(*plan_totals(CHAT), *plan_totals(SHORT, **rises))
    (costs,) = found.costs
    squares = dict(costs.rows)
    assert costs.columns == ("8", "128")
    assert squares["chat"][1].text == "0.900"
    assert squares["short"][0].text == "0.950"
    assert "base 0.9, +5.6%" in squares["short"][0].said
    assert found.changed


def test_a_ledger_is_a_bar_where_the_sides_agree_and_two_where_they_differ() -> None:
    rises = {"cost": 1_900.0, "overhead": 550.0}
    (chart,) = _of(*plan_totals(CHAT), *plan_totals(SHORT, **rises)).ledgers
    parts = ("1.000", "0.200", "0.0500", "0.100")
    assert chart.rows == (
        ("chat", "128", "both sides", *parts, "0.450", "1.800"),
        ("short", "8", "base", *parts, "0.450", "1.800"),
        ("short", "8", "head", *parts, "0.550", "1.900"),
    )
    (records,) = chart.specification["datasets"].values()
    assert [record["queue"] for record in records[::5]] == [
        "chat, 128 rows",
        "short, 8 rows, base",
        "short, 8 rows, head",
    ]


def test_each_cost_model_has_its_own() -> None:
    found = _of(*plan_totals(CHAT), *plan_totals("chat, 128 rows, linear"))
    assert [map_.title for map_ in found.costs] == [
        "On head, planned with the ladder cost",
        "On head, planned with the linear cost",
    ]
    assert len(found.ledgers) == 2
    assert not found.changed


def test_sums_that_an_older_decider_did_not_keep_are_not_missed() -> None:
    older = [line for line in plan_totals(CHAT) if line["figure"] != "per-bucket cost"]
    found = _of(*older)
    assert (found.costs, len(found.ledgers)) == ((), 1)
    assert _of(older[0]) == ComparedPlans()


def test_what_is_of_no_queue_and_what_no_queue_can_be_is_left_out() -> None:
    engine = {"figure": "graphs", "group": "the engine", "base": 3.0, "head": 4.0}
    for tiny in (0.0, -1.0, 1e-300):
        nothing = [line | {"base": tiny} for line in plan_totals(CHAT)]
        assert _of(engine, *nothing) == ComparedPlans(changed=True)


def test_without_exact_figures_there_are_no_plans() -> None:
    assert compared_plans(empty()) == ComparedPlans()
