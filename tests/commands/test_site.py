"""`decider site`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from decider.commands.site import site
from tests.perf.report.comparisons import cell, comparison
from tests.perf.site.histories import commit_hash, write_history


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A results folder of twenty commits; the second forward is slower from the twelfth on."""
    return write_history(tmp_path / "results", count=20, step_at=12)


def _run(results: Path, out: Path, *arguments: str) -> Result:
    return CliRunner().invoke(site, ["--results", str(results), "--out", str(out), *arguments])


def test_it_writes_the_site_and_says_what_it_found(results: Path, tmp_path: Path) -> None:
    comparisons = tmp_path / "comparisons"
    comparisons.mkdir()
    document = comparison([cell("forward/8x256", "regressed", 0.03)])
    (comparisons / "one.json").write_text(json.dumps(document), encoding="utf-8")
    out = tmp_path / "deep" / "site"
    done = _run(results, out, "--comparisons", str(comparisons))
    assert done.exit_code == 0, done.output
    assert "commits: 20    benchmarks: 2    reports: 1    changes: 2" in done.output
    assert f"site: {out / 'index.html'} (" in done.output
    index = (out / "index.html").read_text(encoding="utf-8")
    assert f"commits/{commit_hash(12)}.html" in index
    (page,) = (out / "reports").iterdir()
    assert "forward/8x256" in page.read_text(encoding="utf-8")


def test_commits_link_to_the_repository_when_it_is_named(results: Path, tmp_path: Path) -> None:
    done = _run(results, tmp_path / "site", "--repository-url", "https://example.org/decider/")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "site" / "commits" / f"{commit_hash(3)}.html").read_text(encoding="utf-8")
    assert f'href="https://example.org/decider/commit/{commit_hash(3)}"' in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--results", "nowhere"], "nowhere: no folder of asv results; `make bench` makes some"),
        (["--comparisons", "nowhere"], "nowhere: no folder of comparisons"),
        (["--repository-url", "javascript:alert(1)"], "only plain https addresses"),
        (["--out", "."], "holds something that is no site"),
    ],
)
def test_what_cannot_be_used_is_named_and_the_old_site_stays(
    results: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    out = tmp_path / "site"
    assert _run(results, out).exit_code == 0
    before = (out / "index.html").stat().st_mtime_ns
    done = _run(results, out, *arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output
    assert (out / "index.html").stat().st_mtime_ns == before


def test_a_damaged_file_is_told_and_left_out(results: Path, tmp_path: Path) -> None:
    next(results.glob("*/[0-9]*.json")).with_name("damaged.json").write_text("{", encoding="utf-8")
    done = _run(results, tmp_path / "site")
    assert done.exit_code == 0, done.output
    assert "damaged.json: no asv result" in done.output


def test_its_help_loads_no_chart_library() -> None:
    code = (
        "import sys; from decider.commands.site import site\n"
        "try: site(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({'altair', 'jinja2', 'vl_convert', 'scipy', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_site_loads_no_torch() -> None:
    code = (
        "import sys, decider.perf.site.build, decider.perf.history, decider.perf.report.page\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
