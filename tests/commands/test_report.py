"""`decider report`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from decider.commands.report import report
from tests.perf.report.comparisons import all_failed, void, whole
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


@pytest.fixture
def comparison(tmp_path: Path) -> Path:
    """A file of a comparison of the two commits of `results`."""
    path = tmp_path / "comparison.json"
    path.write_text(json.dumps(whole()), encoding="utf-8")
    return path


def _compared(comparison: Path, *arguments: str) -> Result:
    out = comparison.with_name("report.html")
    return CliRunner().invoke(
        report, ["--comparison", str(comparison), "--out", str(out), *arguments]
    )


def test_a_comparison_needs_no_results(comparison: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(comparison.parent)
    done = _compared(comparison)
    assert done.exit_code == 0, done.output
    assert "Regression: 5 of 24 cells regressed." in done.output
    assert "the page is of the comparison alone" in done.output
    page = comparison.with_name("report.html").read_text(encoding="utf-8")
    assert "All compared cells" in page
    assert "What asv measured at head" not in page


def test_results_of_head_and_base_are_found_by_themselves(
    comparison: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(comparison.parent)
    folder = Path(".asv/results")
    write_results(folder, benchmarks={})
    write_results(folder, commit=OLDER, committed_ms=1_700_000_000_000, benchmarks={})
    write_results(folder, commit="e" * 40, benchmarks={})
    done = _compared(comparison)
    assert done.exit_code == 0, done.output
    assert f"commit {COMMIT[:8]} on reference" in done.output
    page = comparison.with_name("report.html").read_text(encoding="utf-8")
    assert "What asv measured at head" in page
    assert "Differences from the baseline" in page


def test_results_of_another_machine_are_not_taken_for_the_comparisons(
    comparison: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(comparison.parent)
    write_results(Path(".asv/results"), machine="other", benchmarks={})
    done = _compared(comparison)
    assert done.exit_code == 0, done.output
    assert "comparison alone" in done.output


def test_results_that_were_asked_for_must_be_there(comparison: Path, results: Path) -> None:
    done = _compared(comparison, "--results", str(results))
    assert done.exit_code == 0, done.output
    assert "What asv measured" in comparison.with_name("report.html").read_text(encoding="utf-8")
    done = _compared(comparison, "--results", "nowhere")
    assert done.exit_code == 2
    assert "`make bench` makes some" in done.output
    done = _compared(comparison, "--results", str(results), "--commit", "fff")
    assert done.exit_code == 2
    assert "measured are" in done.output


def test_the_comment_is_written_beside_the_page(comparison: Path) -> None:
    markdown = comparison.with_name("deep") / "comment.md"
    address = "https://example.org/report.html"
    done = _compared(comparison, "--markdown", str(markdown), "--report-url", address)
    assert done.exit_code == 0, done.output
    assert f"comment: {markdown}" in done.output
    written = markdown.read_text(encoding="utf-8")
    assert written.startswith("### ▲ Regression: 5 of 24 cells regressed.")
    assert f"[Full report](<{address}>)" in written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--report-url", "https://a.b"], "name its file by --markdown"),
        (["--markdown", "x.md", "--report-url", "javascript:x"], "'javascript:x': no address"),
        (["--repository-url", "javascript:x"], "repository URL 'javascript:x': only plain https"),
        (["--markdown", "."], "--markdown names the file to write"),
    ],
)
def test_what_fits_no_comment_is_named_and_nothing_is_written(
    comparison: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(comparison.parent)
    before = sorted(comparison.parent.iterdir())
    done = _compared(comparison, *arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert sorted(comparison.parent.iterdir()) == before


def test_a_comment_needs_a_comparison_and_a_file_of_its_own(
    results: Path, comparison: Path, tmp_path: Path
) -> None:
    done = _run(results, tmp_path / "report.html", "--markdown", str(tmp_path / "x.md"))
    assert done.exit_code == 2
    assert "name one by --comparison" in done.output
    done = _compared(comparison, "--markdown", str(comparison.with_name("report.html")))
    assert done.exit_code == 2
    assert "name the same file" in done.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ("[]", "no document of schema"),
        ('{"schema": "decider-comparison", "schema_version": 2}', "of version 2"),
        ('{"schema": "decider-comparison", "schema_version": 1}', "is a required property"),
        ("[" * 100_000, "no JSON: depth limit"),
    ],
)
def test_what_is_no_comparison_is_refused(comparison: Path, text: str, message: str) -> None:
    comparison.write_text(text, encoding="utf-8")
    done = _compared(comparison)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output
    assert not comparison.with_name("report.html").exists()


def test_a_comparison_with_a_number_that_cannot_be_meant_is_refused(comparison: Path) -> None:
    text = comparison.read_text(encoding="utf-8")
    comparison.write_text(text.replace('"spent_seconds": 301.0', '"spent_seconds": 1e999'))
    done = _compared(comparison, "--markdown", str(comparison.with_name("x.md")))
    assert done.exit_code == 2
    assert "no JSON: number is infinity when parsed" in done.output


def test_a_missing_comparison_is_named(tmp_path: Path) -> None:
    done = _compared(tmp_path / "none.json")
    assert done.exit_code == 2
    assert "none.json: No such file" in done.output


def test_a_hostile_sentence_cannot_drive_the_terminal(tmp_path: Path) -> None:
    document = whole()
    document["outcome"]["sentence"] = "fine\x1b[2J\nreport: elsewhere"
    path = tmp_path / "comparison.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    done = _compared(path)
    assert "Regression: fine\ufffd[2J report: elsewhere\n" in done.output


def test_the_standing_of_the_verdict_does_not_fail_the_report(tmp_path: Path) -> None:
    path = tmp_path / "comparison.json"
    for make in (void, all_failed):
        path.write_text(json.dumps(make()), encoding="utf-8")
        assert _compared(path).exit_code == 0
