"""`decider report`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from decider.commands.report import report
from tests.perf.report.results import COMMIT, OLDER, write_grid_file, write_results


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A results folder with two commits of few benchmarks."""
    folder = tmp_path / "results"
    write_results(folder, benchmarks={})
    write_results(folder, commit=OLDER, committed_ms=1_700_000_000_000, benchmarks={})
    return folder


def _run(results: Path, out: Path, *arguments: str) -> Result:
    words = ["--results", str(results), "--out", str(out), *arguments]
    return CliRunner().invoke(report, words)


def test_it_writes_the_page_and_says_where_it_is_and_what_it_found(
    results: Path, tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "report.html"
    done = _run(results, out)
    assert done.exit_code == 0, done.output
    assert f"commit {COMMIT[:8]} on reference: The result holds no benchmark." in done.output
    assert f"report: {out} (" in done.output
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [path.name for path in out.parent.iterdir()] == ["report.html"]


def test_a_baseline_and_a_grid_file_are_shown(results: Path, tmp_path: Path) -> None:
    grid = write_grid_file(tmp_path / "grid.json")
    out = tmp_path / "report.html"
    done = _run(results, out, "--baseline", OLDER[:8], "--grid", str(grid))
    assert done.exit_code == 0, done.output
    page = out.read_text(encoding="utf-8")
    assert "Differences from the baseline" in page
    assert "Grid file grid.json" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--machine", "mars"], "no result of machine 'mars'; there are reference"),
        (["--commit", "fff"], f"measured are {COMMIT[:8]}, {OLDER[:8]}"),
        (["--baseline", COMMIT[:8]], "name another commit"),
        (["--grid", "none.json"], "none.json: No such file"),
        (["--results", "nowhere"], "`make bench` makes some"),
    ],
)
def test_what_cannot_be_used_is_named_and_nothing_is_written(
    results: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    out = tmp_path / "report.html"
    out.write_text("what was here before", encoding="utf-8")
    done = _run(results, out, *arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output
    assert out.read_text(encoding="utf-8") == "what was here before"


def test_a_grid_file_of_another_kind_is_refused(results: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("[]", encoding="utf-8")
    done = _run(results, tmp_path / "report.html", "--grid", str(other))
    assert done.exit_code == 2
    assert "other.json: not a grid" in done.output


def test_a_folder_is_no_page(results: Path, tmp_path: Path) -> None:
    done = _run(results, tmp_path)
    assert done.exit_code == 2
    assert "--out names the file to write" in done.output


def test_a_damaged_result_is_told_on_the_way_and_on_the_page(results: Path, tmp_path: Path) -> None:
    damaged = next(results.glob("*/[0-9]*.json")).with_name("damaged.json")
    damaged.write_text("{", encoding="utf-8")
    done = _run(results, tmp_path / "report.html")
    assert done.exit_code == 0, done.output
    assert "not read:" in done.output
    assert "damaged.json" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_its_help_loads_no_chart_library() -> None:
    code = (
        "import sys; from decider.commands.report import report\n"
        "try: report(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({'altair', 'jinja2', 'vl_convert', 'scipy', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_page_loads_no_torch() -> None:
    code = "import sys, decider.perf.report.page; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
