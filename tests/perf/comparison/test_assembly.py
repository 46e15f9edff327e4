"""The document of a run holds what the schema wants and what the run found."""

from __future__ import annotations

import json

import pytest

from decider.perf.comparison.assembly import assemble, pair_document, pair_of_document
from decider.perf.comparison.document import check_comparison
from decider.perf.comparison.pair import CellPair, Pair
from decider.perf.comparison.run import Run
from decider.perf.verdict import Design
from tests.perf.comparison.arms import cell
from tests.perf.comparison.runs import CELLS, Arms, finished, subject


def by_id(document):
    return {found["id"]: found for found in document["cells"]}


def test_a_regression_is_told():
    document = assemble(finished(Arms({"forward/1x64": 0.05})), subject())
    check_comparison(document)
    assert document["outcome"]["name"] == "regression"
    found = by_id(document)["forward/1x64"]
    assert found["verdict"] == "regressed"
    assert found["low"] > 0
    assert found["change"] == pytest.approx(0.05, abs=0.01)
    assert found["head_value"] / found["base_value"] == pytest.approx(1.05, abs=0.01)
    assert found["padded_tokens"] == 64
    assert document["control"]["verdict"] == "unchanged"
    assert document["void"] is None


def test_nothing_changed_is_told():
    document = assemble(finished(Arms()), subject())
    check_comparison(document)
    assert document["outcome"] == {
        "name": "nothing worse",
        "exit_status": 0,
        "sentence": "Nothing worse: of 5 cells 5 unchanged.",
        "counts": {
            **dict.fromkeys(document["outcome"]["counts"], 0),
            "unchanged": 5,
        },
    }


def test_a_control_that_moves_voids_the_run():
    document = assemble(finished(Arms({"control": 0.05, "forward/1x64": 0.05})), subject())
    check_comparison(document)
    assert document["outcome"]["name"] == "void"
    assert document["outcome"]["exit_status"] == 2
    assert "moved by +" in document["void"]


def test_a_plan_that_costs_more_is_a_regression():
    figures = {
        "figures": {"decision, 32 rows, seed 0, ladder": {"cost": 11.0, "forwards": 2.0}},
        "traffic": {},
        "note": None,
    }
    same = subject().exact
    document = assemble(finished(Arms()), subject(exact={"base": same["base"], "head": figures}))
    assert document["exact"]["rises"] == 1
    assert document["outcome"]["name"] == "regression"


def test_what_was_never_measured_has_failed_with_the_reason():
    run = finished(Arms(fails={"head": {"forward/1x64": "crash"}}))
    document = assemble(run, subject())
    check_comparison(document)
    found = by_id(document)["forward/1x64"]
    assert found["verdict"] == "failed"
    assert "forward/1x64 failed" in found["reason"]
    assert document["pairs"][0]["failures"][0]["kind"] == "crash"


def test_a_run_without_a_start_is_a_document_too():
    document = assemble(finished(Arms(fails={"base": {"start": "timeout"}})), subject())
    check_comparison(document)
    assert document["cells"] == []
    assert document["cost_model"] is None
    assert document["outcome"]["name"] == "failed"
    assert document["outcome"]["exit_status"] == 2


def test_a_run_before_its_first_pair_is_a_document_too():
    check_comparison(assemble(Run(Arms(), Design()), subject()))


def test_not_comparable_cells_say_why():
    cells = [cell("forward/1x64", skip="this commit has no engine"), *CELLS[3:]]
    document = assemble(finished(Arms(cells=cells)), subject())
    check_comparison(document)
    found = by_id(document)["forward/1x64"]
    assert found["verdict"] == "not comparable"
    assert "no engine" in found["reason"]
    assert document["cost_model"] is None


def test_the_cost_model_is_fitted_on_both_sides():
    document = assemble(finished(Arms(overhead=1.5)), subject())
    model = document["cost_model"]
    assert model["base"]["overhead"] == pytest.approx(200, rel=0.05)
    assert model["head"]["overhead"] == pytest.approx(300, rel=0.05)
    assert model["ratio"] == pytest.approx(1.5, rel=0.02)
    assert 1 < model["ratio_low"] < model["ratio"] < model["ratio_high"]
    assert model["constant"] == 128
    assert len(model["head"]["cells"]) == 3


def test_summaries_are_of_each_benchmark_and_of_all():
    document = assemble(finished(Arms({"forward/1x64": 0.05})), subject())
    forward, plan, whole = document["summaries"]
    assert [part["benchmark"] for part in (forward, plan, whole)] == ["forward", "plan", None]
    assert (forward["cells"], plan["cells"], whole["cells"]) == (3, 1, 4)
    assert forward["worst"] == whole["worst"] == "forward/1x64"
    assert 0 < forward["weighted_mean"] < 0.05
    assert plan["weighted_mean"] is None
    assert whole["counts"]["regressed"] == 1


def test_pairs_come_back_as_they_were():
    run = finished(Arms({"forward/1x64": 0.05}))
    for pair in run.pairs:
        again = pair_of_document(json.loads(json.dumps(pair_document(pair))))
        assert pair_document(again) == pair_document(pair)


def test_a_dropped_round_stays_out_when_a_pair_comes_back():
    cell_pair = CellPair(
        1,
        {"base": [[1.0], [1.0], [1.0], [1.0]], "head": [[9.0], [1.0], [2.0], [2.0]]},
        {"base": [1_900] * 4, "head": [1_000, 1_900, 1_900, 1_900]},
    )
    pair = Pair(1, "base", cells={"control": cell_pair}, complete=True)
    again = pair_of_document(json.loads(json.dumps(pair_document(pair))))
    assert again.cells["control"].log_ratio == cell_pair.log_ratio
