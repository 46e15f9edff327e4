"""`decider calibrate`: what it reads, prints, writes and refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from decider import costs
from decider.commands.calibrate import calibrate
from decider.grid import CPU_GRID
from tests.perf.calibration.measurements import noisy

QUICK = ("--queues", "2", "--mix", "short")


def run(*arguments):
    return CliRunner().invoke(calibrate, [str(argument) for argument in arguments])


def grid_file(path, seed=0, overhead=667, **environment):
    measured = noisy(seed, overhead=overhead)
    values = {
        "schema": "decider.grid/1",
        "grid": CPU_GRID.to_dict(),
        "environment": {"machine": "lab", "commit": "abc", **environment},
        "timing": {"queueing": False},
        "complete": True,
        "cells": [
            {"batch": c.shape.batch, "length": c.shape.length, "blocks": c.runs[0]}
            for c in measured.cells
        ],
    }
    path.write_text(json.dumps(values))
    return path


@pytest.fixture
def grid(tmp_path):
    return grid_file(tmp_path / "grid.json")


def test_a_grid_file_gives_a_constant(grid):
    result = run(grid, *QUICK)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("derived overhead: 66")
    assert "machine lab" in result.stdout


def test_json_is_the_only_thing_on_standard_output(grid, tmp_path):
    result = run(grid, *QUICK, "--json", "--cost-out", tmp_path / "cost.json")
    values = json.loads(result.stdout)
    assert values["derived"] == pytest.approx(667, rel=0.02)
    assert values["source"] == str(grid)


def test_several_files_are_runs_of_one_measurement(tmp_path):
    files = [grid_file(tmp_path / f"{seed}.json", seed, time=str(seed)) for seed in range(3)]
    values = json.loads(run(*files, *QUICK, "--json").stdout)
    assert values["runs"] == 3
    assert values["fits"]["whole_grid"]["replicated_over"] == "run"


def test_files_of_different_machines_are_refused(tmp_path):
    files = [grid_file(tmp_path / f"{name}.json", machine=name) for name in ("a", "b")]
    result = run(*files, *QUICK)
    assert result.exit_code == 2
    assert "their machine is 'a' and 'b'" in result.output


def test_a_baseline_shows_the_drift(grid, tmp_path):
    old = grid_file(tmp_path / "old.json", 1, torch="2.12")
    assert "Since " in run(grid, *QUICK, "--baseline", old).stdout


def test_a_baseline_that_is_nowhere_is_told(grid):
    result = run(grid, *QUICK, "--baseline", "deadbeef")
    assert result.exit_code == 2
    assert "--baseline deadbeef: no such file" in result.output


def test_the_cost_table_is_what_the_server_loads(grid, tmp_path):
    run(grid, *QUICK, "--cost-out", tmp_path / "cost.json")
    table = costs.load(tmp_path / "cost.json", CPU_GRID)
    assert isinstance(table, costs.MeasuredCost)
    assert set(table.cells) == set(CPU_GRID.shapes)
    assert "machine lab" in table.source


def test_plots_are_written(grid, tmp_path):
    assert run(grid, *QUICK, "--plots", tmp_path / "plots").exit_code == 0
    assert sorted(p.name for p in (tmp_path / "plots").iterdir()) == [
        "calibration.html",
        "calibration.svg",
    ]


def test_a_refused_fit_exits_1_and_names_the_cure(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("num_tokens,milliseconds\n64,1\n128,2\n")
    result = run(path, *QUICK)
    assert result.exit_code == 1
    assert "refused (few-sizes)" in result.stdout
    assert "cure: measure forwards of at least 6" in result.stdout


def test_cells_that_make_no_table_write_none(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("rows,length,milliseconds\n1,64,-1\n")
    result = run(path, *QUICK, "--cost-out", tmp_path / "cost.json")
    assert result.exit_code == 2
    assert not (tmp_path / "cost.json").exists()


def test_a_trace_is_judged_instead_of_the_mixes(grid, tmp_path):
    trace = tmp_path / "service.csv"
    rows = [f"2023-11-16 18:15:{i:02}.0000000,{100 + i},7" for i in range(40)]
    trace.write_text("\n".join(["TIMESTAMP,ContextTokens,GeneratedTokens", *rows]))
    values = json.loads(run(grid, "--queues", "2", "--trace", trace, "--json").stdout)
    assert {one["mix"] for one in values["decision"]["excess"]} == {"service"}
    both = run(grid, "--trace", trace, "--mix", "short")
    assert both.exit_code == 2
    assert "judge on one of them" in both.output


def test_without_results_the_way_to_some_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run()
    assert result.exit_code == 2
    assert "no asv results in .asv/results: `make bench` makes some" in result.output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("gone.json",), "gone.json: No such file"),
        (("--current", "-1"), "-1 is not in the range"),
        (("--mix", "nosuch"), "'nosuch' is not one of"),
        (("--margin", "101"), "101"),
    ],
)
def test_bad_input_exits_2_and_is_named(arguments, told):
    result = run(*arguments)
    assert result.exit_code == 2
    assert told in result.output


def test_help_loads_neither_scipy_nor_torch():
    code = (
        "import sys; from click.testing import CliRunner;"
        "from decider.commands.calibrate import calibrate;"
        "assert CliRunner().invoke(calibrate, ['--help']).exit_code == 0;"
        "assert not {'scipy', 'torch', 'altair'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_calibrating_loads_no_torch(grid):
    code = (
        "import sys; from click.testing import CliRunner;"
        "from decider.commands.calibrate import calibrate;"
        f"assert CliRunner().invoke(calibrate, {[str(grid), *QUICK]!r}).exit_code == 0;"
        "assert not {'torch', 'transformers', 'altair'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with the two files, which is the working directory."""
    root = tmp_path / "repository"
    (root / "decider").mkdir(parents=True)
    (root / "docs").mkdir()
    (root / "decider/batching.py").write_text("DEFAULT_MERGE_OVERHEAD_TOKENS = 512\n")
    (root / "docs/SERVING.md").write_text("<!-- calibration:start -->\n<!-- calibration:end -->\n")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    for command in ("init", "add .", "commit -m first"):
        arguments = ["git", "-C", str(root), *command.split()]
        subprocess.run(arguments, check=True, capture_output=True, env=dict(os.environ))
    monkeypatch.chdir(root)
    return root


def constant(root):
    return (root / "decider/batching.py").read_text().split(" = ")[1].strip()


def test_write_changes_the_constant_and_says_where_it_comes_from(tmp_path, repository, monkeypatch):
    grid = grid_file(tmp_path / "grid.json", overhead=100)
    monkeypatch.setattr(sys, "argv", ["decider", "calibrate", "grid.json", "--write"])
    result = run(grid, "--queues", "4", "--mix", "short", "--write")
    assert result.exit_code == 0, result.output
    assert 97 < int(constant(repository)) < 103
    page = (repository / "docs/SERVING.md").read_text()
    for part in (
        "| machine | lab |",
        "| commit | abc |",
        "| command | `decider calibrate grid.json --write` |",
        "change to ",
    ):
        assert part in page


def test_write_judges_the_shipped_constant_only(grid, repository):
    result = run(grid, *QUICK, "--current", "0", "--write")
    assert result.exit_code == 2
    assert "--write replaces the shipped constant" in result.output


def test_write_refuses_to_change_what_should_be_kept(grid, repository):
    result = run(grid, *QUICK, "--write")
    assert result.exit_code == 2
    assert "not written: the advice is to keep the constant" in result.output
    assert constant(repository) == "512"


def test_write_refuses_a_refused_fit(tmp_path, repository):
    path = tmp_path / "few.csv"
    path.write_text("num_tokens,milliseconds\n64,1\n128,2\n")
    result = run(path, "--write")
    assert "not written: the fit is refused (few-sizes)" in result.output
    assert constant(repository) == "512"


def test_write_refuses_where_no_plans_were_priced(tmp_path, repository):
    path = tmp_path / "ladder.csv"
    lines = [f"{n},{9.2 + 0.0138 * n}" for n in (64, 128, 256, 512, 1024, 2048)]
    path.write_text("\n".join(["num_tokens,milliseconds", *lines]))
    result = run(path, "--write")
    assert "not written: no plans were priced" in result.output
    assert constant(repository) == "512"


def test_write_refuses_a_dirty_tree_before_it_measures_anything(repository):
    (repository / "docs/SERVING.md").write_text("changed\n")
    result = run("gone.json", "--write")
    assert result.exit_code == 2
    assert "uncommitted changes (docs/SERVING.md)" in result.output
