"""`decider plan`: where rows come from, what is printed, and how bad input is named."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from decider.cli import main
from decider.costs import LadderCost, MeasuredCost, save
from decider.grid import BucketGrid
from decider.workloads import row_lengths

ROWS = ["60", "64", "190", "200", "210", "900", "1100", "1150"]
TRACE = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
    f"2023-11-16 18:15:4{second}.0000000,{tokens},7\n" for second, tokens in enumerate([5, 70, 900])
)


def run(*arguments: str, stdin: str | None = None):
    return CliRunner().invoke(main, ["plan", *arguments], input=stdin)


def as_json(*arguments: str, stdin: str | None = None):
    result = run(*arguments, "--json", stdin=stdin)
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def tokens(report) -> list[int]:
    by_row = {
        row: n
        for group in report["groups"]
        for row, n in zip(group["rows"], group["tokens"], strict=True)
    }
    return [by_row[row] for row in range(report["rows"])]


def test_arguments_are_planned_and_compared_with_per_bucket_grouping():
    report = as_json(*ROWS)
    assert tokens(report) == [int(row) for row in ROWS]
    assert report["plan"]["cost"] == 6_720  # the proven case of this queue
    assert report["per_bucket"]["cost"] == 6_976
    assert sum(group["cost"] for group in report["groups"]) == 6_720
    parts = ("real_tokens", "length_rounding", "co_batch_padding", "empty_rows", "overhead")
    assert sum(report["plan"][part] for part in parts) == 6_720


def test_the_table_shows_groups_ledger_and_comparison():
    output = run(*ROWS).output
    for text in ("8 rows in 4 forwards", "2 x 1280", "6:1100 7:1150", "per-bucket", "6,720"):
        assert text in output


@pytest.mark.parametrize("arguments", [["-"], []])
def test_rows_come_from_standard_input(arguments):
    assert tokens(as_json(*arguments, stdin="5, 70\n900\n")) == [5, 70, 900]


def test_rows_come_from_a_file(tmp_path):
    (tmp_path / "rows.txt").write_text("5 70\n900")
    assert tokens(as_json("--file", str(tmp_path / "rows.txt"))) == [5, 70, 900]


def test_rows_come_from_a_window_of_a_trace(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(TRACE)
    assert tokens(as_json("--trace", str(path), "--window", "1500")) == [5, 70]
    assert tokens(as_json("--trace", str(path), "--window", "1500", "--speed", "2")) == [5, 70, 900]
    assert tokens(as_json("--trace", str(path), "--start", "2")) == [900]


def test_rows_come_from_a_mix():
    report = as_json("--mix", "decision", "--size", "40", "--seed", "3")
    assert tokens(report) == row_lengths("decision", 40, seed=3).tolist()


def test_an_empty_queue_is_a_plan_of_no_forwards():
    report = as_json("-", stdin="")
    assert report["groups"] == []
    assert report["plan"]["cost"] == 0


def test_a_huge_queue_is_shown_in_part():
    assert "more; --json prints all" in run("--mix", "code", "--size", "5000").output


def test_the_cost_model_may_be_a_file(tmp_path):
    cells = {shape: 1 + shape.batch * shape.length / 1_000 for shape in BucketGrid().shapes}
    for cost in (LadderCost(100), MeasuredCost(cells)):
        save(cost, tmp_path / "cost.json")
        assert tokens(as_json(*ROWS, "--cost", str(tmp_path / "cost.json"))) == [*map(int, ROWS)]


def test_the_grid_is_what_the_environment_says(monkeypatch):
    monkeypatch.setenv("DECIDER_T_BUCKETS", "100 2000")
    assert {group["length"] for group in as_json(*ROWS)["groups"]} <= {100, 2_000}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["3", "x"], "row 1: 'x' is not a whole number"),
        (["3", "0"], "row 1: length 0 is below 1"),
        (["3", "--mix", "short"], "one source of rows at a time, not rows and mix"),
        (["3", "--cost", "cubic"], "--cost cubic"),
        (["3", "--overhead", "-1"], "-1"),
        (["--file", "nowhere.txt"], "nowhere.txt"),
        (["--trace", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_bad_input_is_one_line_that_names_it(arguments, named):
    result = run(*arguments)
    assert result.exit_code > 0
    assert named in result.output
    assert "Traceback" not in result.output


def test_a_window_without_rows_says_what_to_do(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(TRACE)
    assert "widen --window" in run("--trace", str(path), "--start", "60").output


def test_a_bad_environment_variable_is_named(monkeypatch):
    monkeypatch.setenv("DECIDER_B_BUCKETS", "4 2")
    assert "DECIDER_B_BUCKETS='4 2'" in run("3").output
