"""Exact figures: the same on every run, by queue."""

from __future__ import annotations

import json

import pytest

from benchmarks import exact_figures, plans, queues
from benchmarks.models import COSTS


@pytest.fixture
def few(monkeypatch):
    """Only a few small queues."""
    monkeypatch.setattr(exact_figures, "SIZES", {4: 2})
    monkeypatch.setattr(exact_figures, "TRAFFIC_QUEUES", 3)


def test_every_mix_size_queue_and_model_has_its_figures(few):
    found = exact_figures.document()
    assert len(found["figures"]) == len(queues.MIXES) * 2 * len(COSTS)
    figures = found["figures"]["decision, 4 rows, seed 1, ladder"]
    parts = ("real tokens", "length rounding", "co batch padding", "empty rows", "overhead")
    assert figures["cost"] == sum(figures[part] for part in parts)
    assert figures["cost"] <= figures["per-bucket cost"]
    assert found["note"] is None


def test_they_are_the_same_every_time(few):
    assert exact_figures.document() == exact_figures.document()


def test_traffic_counts_captured_shapes(few):
    from benchmarks.profiles import CPU

    grid = CPU.grid()
    counted = exact_figures.traffic()
    assert sum(counted.values()) >= 3
    for name in counted:
        batch, length = (int(part) for part in name.split("x"))
        assert grid.is_captured(batch, length)


def test_a_commit_without_a_planner_has_a_note(few, monkeypatch):
    monkeypatch.setattr(plans, "Planner", None)
    assert exact_figures.document() == {
        "figures": {},
        "traffic": {},
        "note": "this commit does not have it",
    }


def test_a_plan_above_per_bucket_ends_it(few, monkeypatch):
    def singles(self, lengths):
        grid = exact_figures.plans.GRID
        return [(grid.pad_len(n), [row]) for row, n in enumerate(lengths)]

    monkeypatch.setattr(plans.Planner, "plan", singles)
    with pytest.raises(AssertionError, match="per bucket"):
        exact_figures.document()


def test_it_prints_json(few, capsys):
    assert exact_figures.main([]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"figures", "traffic", "note"}
