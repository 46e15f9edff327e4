"""Diagrams."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from decider.perf.report.charts import COLOURS, Chart
from decider.perf.report.figures import plan_figures, planning_charts
from decider.perf.report.results_folder import read_results_folder
from tests.perf.report.contrast import contrast
from tests.perf.report.hostile import ATTACKS, write_hostile_results


@pytest.fixture(scope="module")
def hostile_charts(tmp_path_factory: pytest.TempPathFactory) -> list[Chart]:
    """Every diagram of a hostile result."""
    folder = tmp_path_factory.mktemp("charts")
    write_hostile_results(folder)
    result = read_results_folder(folder).choose()
    return [*plan_figures(result).ledgers, *planning_charts(result)]


def test_strangers_texts_are_data_and_never_expressions(hostile_charts: list[Chart]) -> None:
    def expressions(node: object) -> list[str]:
        """Every text of a specification but those of its data and domains."""
        if isinstance(node, dict):
            kept = {k: v for k, v in node.items() if k not in ("datasets", "data", "domain")}
            return [text for value in kept.values() for text in expressions(value)]
        if isinstance(node, list):
            return [text for value in node for text in expressions(value)]
        return [node] if isinstance(node, str) else []

    assert len(hostile_charts) == 2 * len(ATTACKS)
    for chart in hostile_charts:
        assert any(
            attack in json.dumps(chart.specification, ensure_ascii=False) for attack in ATTACKS[2:]
        )
        texts = expressions(chart.specification)
        assert not [text for text in texts for attack in ATTACKS if attack in text]


def test_a_table_has_as_many_columns_as_headings(hostile_charts: list[Chart]) -> None:
    for chart in hostile_charts:
        assert chart.rows
        assert {len(row) for row in chart.rows} == {len(chart.headers)}


def test_marks_stand_out_by_day_and_by_night() -> None:
    style = (resources.files("decider.perf.report") / "templates" / "style.css").read_text()
    for ground in ("#ffffff", "#15181d"):
        assert f"--ground: {ground}" in style
        assert min(contrast(colour, ground) for colour in COLOURS) >= 3
