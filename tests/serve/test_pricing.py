from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from decider import costs
from decider.batching import DEFAULT_MERGE_OVERHEAD_TOKENS
from decider.costs import LadderCost, LinearCost, MeasuredCost
from decider.grid import CPU_GRID, BucketGrid
from decider.serve import pricing as module
from decider.serve.pricing import pricing
from decider.serve.settings import CPU_MERGE_OVERHEAD_TOKENS, Settings

GRID = BucketGrid((64,), (1, 2), 128)
TABLE = MeasuredCost({(1, 64): 1.0, (2, 64): 1.5}, source="a machine")


@pytest.fixture(autouse=True)
def _nothing_shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "files", lambda _: tmp_path)


@pytest.mark.parametrize("on_cpu", [True, False])
@pytest.mark.parametrize("given", [{}, {"cost": "ladder"}, {"merge_overhead_tokens": 7}])
def test_the_ladder_has_the_overhead_that_is_set_or_belongs_to_the_device(
    given: dict[str, Any], on_cpu: bool
) -> None:
    default = CPU_MERGE_OVERHEAD_TOKENS if on_cpu else DEFAULT_MERGE_OVERHEAD_TOKENS
    cost, source = pricing(Settings(**given), GRID, on_cpu=on_cpu)
    assert cost == LadderCost(given.get("merge_overhead_tokens", default), GRID)
    assert f"overhead {cost.overhead:g} token-units" in source
    assert ("set by DECIDER_MERGE_OVERHEAD_TOKENS" in source) == bool(
        "merge_overhead_tokens" in given
    )


def test_the_linear_cost_can_be_asked_for() -> None:
    cost, source = pricing(Settings(cost="linear", merge_overhead_tokens=9), GRID, on_cpu=True)
    assert cost == LinearCost(9)
    assert source.startswith("linear")


def test_a_measured_table_is_read_and_says_where_it_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    costs.save(TABLE, path)
    cost, source = pricing(Settings(cost=str(path)), GRID, on_cpu=False)
    assert cost == TABLE
    assert source == f"{path}, measured on a machine"


@pytest.mark.parametrize("content", [None, "not JSON", "{}"])
def test_what_is_no_cost_is_refused_with_the_variable(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "table.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"DECIDER_COST=.*table\.json.*neither linear nor ladder"):
        pricing(Settings(cost=str(path)), GRID, on_cpu=True)


def test_a_table_that_does_not_cover_the_grid_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    costs.save(TABLE, path)
    with pytest.raises(ValueError, match="do not cover the grid"):
        pricing(Settings(cost=str(path)), CPU_GRID, on_cpu=True)


def test_the_cpu_default_takes_the_shipped_table_unless_anything_is_set(tmp_path: Path) -> None:
    costs.save(TABLE, tmp_path / "data" / module.CPU_TABLE)
    cost, source = pricing(Settings(), GRID, on_cpu=True)
    assert cost == TABLE
    assert "measured on a machine" in source
    for given in ({"cost": "ladder"}, {"merge_overhead_tokens": 5}, {"model": "2b"}):
        assert isinstance(pricing(Settings(**given), GRID, on_cpu=True).cost, LadderCost)
    assert isinstance(pricing(Settings(), GRID, on_cpu=False).cost, LadderCost)
    assert isinstance(pricing(Settings(), CPU_GRID, on_cpu=True).cost, LadderCost)
