"""Exact figures are compared exactly, and every rise is named."""

from __future__ import annotations

import pytest

from decider.perf.comparison.exact import compare_exact, cost_rises

QUEUE = "decision, 32 rows, seed 7, ladder"
OTHER = "decision, 32 rows, seed 8, ladder"


def side(figures, note=None):
    return {"figures": figures, "note": note}


def test_a_rise_is_named_with_its_queue():
    exact = compare_exact(
        side({QUEUE: {"cost": 100.0, "forwards": 3.0}}),
        side({QUEUE: {"cost": 101.0, "forwards": 3.0}}),
    )
    assert (exact["compared"], exact["rises"], exact["falls"]) == (2, 1, 0)
    assert exact["changes"] == [{"figure": "cost", "queue": QUEUE, "base": 100.0, "head": 101.0}]
    assert cost_rises(exact) == 1


def test_the_smallest_difference_counts():
    exact = compare_exact(side({QUEUE: {"cost": 1e9}}), side({QUEUE: {"cost": 1e9 + 1e-6}}))
    assert exact["rises"] == 1


def test_rises_stand_before_falls_and_large_ones_first():
    exact = compare_exact(
        side({QUEUE: {"cost": 100.0, "forwards": 4.0}, OTHER: {"cost": 100.0}}),
        side({QUEUE: {"cost": 110.0, "forwards": 1.0}, OTHER: {"cost": 150.0}}),
    )
    assert [(change["figure"], change["head"]) for change in exact["changes"]] == [
        ("cost", 150.0),
        ("cost", 110.0),
        ("forwards", 1.0),
    ]


def test_only_a_cost_that_rises_is_worse():
    exact = compare_exact(
        side({QUEUE: {"cost": 100.0, "forwards": 3.0}}),
        side({QUEUE: {"cost": 90.0, "forwards": 4.0}}),
    )
    assert (exact["rises"], exact["falls"]) == (1, 1)
    assert cost_rises(exact) == 0
    assert cost_rises(None) == 0


def test_totals_are_over_the_queues_of_a_mix_size_and_model():
    exact = compare_exact(
        side({QUEUE: {"cost": 100.0}, OTHER: {"cost": 50.0}}),
        side({QUEUE: {"cost": 90.0}, OTHER: {"cost": 50.0}}),
    )
    assert exact["totals"] == [
        {"figure": "cost", "group": "decision, 32 rows, ladder", "base": 150.0, "head": 140.0}
    ]


def test_figures_of_one_side_are_counted_and_explained():
    exact = compare_exact(
        side({}, "this commit does not have it"), side({QUEUE: {"cost": 1.0, "forwards": 1.0}})
    )
    assert (exact["compared"], exact["only_base"], exact["only_head"]) == (0, 0, 2)
    assert exact["notes"] == ["base: this commit does not have it"]


def test_graphs_are_figures_of_the_engine():
    exact = compare_exact(side({}), side({}), ({"graph bytes": 10}, {"graph bytes": 12}))
    [change] = exact["changes"]
    assert (change["queue"], change["figure"]) == ("the engine", "graph bytes")


def test_the_list_of_changes_is_cut_and_the_counts_are_not():
    many = {f"decision, 8 rows, seed {n}, linear": {"forwards": 1.0} for n in range(1_500)}
    more = {queue: {"forwards": 2.0} for queue in many}
    exact = compare_exact(side(many), side(more))
    assert len(exact["changes"]) == 1_000
    assert exact["rises"] == 1_500


def test_a_cost_that_rises_a_little_is_not_cut_off_by_what_rises_much():
    many = {f"decision, 8 rows, seed {n}, linear": {"forwards": 1.0} for n in range(1_500)}
    more = {queue: {"forwards": 2.0} for queue in many}
    exact = compare_exact(
        side({**many, QUEUE: {"cost": 1_000.0}}), side({**more, QUEUE: {"cost": 1_001.0}})
    )
    assert cost_rises(exact) == 1


def test_a_figure_that_rises_from_zero_is_a_rise():
    exact = compare_exact(side({QUEUE: {"empty rows": 0.0}}), side({QUEUE: {"empty rows": 5.0}}))
    assert exact["rises"] == 1


@pytest.mark.parametrize("missing", [None, {}])
def test_no_graphs_is_no_figure(missing):
    assert compare_exact(side({}), side({}), (missing, missing))["compared"] == 0
