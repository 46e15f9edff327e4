"""`decider history`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from decider.commands.history import history
from tests.perf.history.folders import EXACT, TIMES, commit_hash, noisy, write_series


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """40 commits; the times are a fifth slower from the 31st on."""
    write_series(tmp_path / "results", [*noisy(30), *noisy(10, 0.12, 30)])
    return tmp_path / "results"


def _run(results: Path, *arguments: str) -> Result:
    environment = {"COLUMNS": "200"}
    return CliRunner(env=environment).invoke(history, ["--results", str(results), *arguments])


def test_a_regression_is_a_line_and_exit_status_1(results: Path) -> None:
    done = _run(results)
    assert done.exit_code == 1, done.output
    (line,) = [line for line in done.output.splitlines() if TIMES in line]
    for part in ("batch 8", "step, worse", "120 ms", "in force", "confirmed"):
        assert part in line
    assert f"{commit_hash(29)[:8]}..{commit_hash(30)[:8]}" in line
    assert "40 commits, 1 series searched" in done.output
    assert "1 for the worse in force and confirmed" in done.output


def test_nothing_worse_is_exit_status_0(tmp_path: Path) -> None:
    write_series(tmp_path, [*noisy(30), *noisy(10, 0.08, 30)])
    done = _run(tmp_path)
    assert done.exit_code == 0, done.output
    assert "step, better" in done.output


def test_what_fails_may_be_chosen(results: Path) -> None:
    assert _run(results, "--fail-on", "never").exit_code == 0
    assert _run(results, "--fail-on", "possible").exit_code == 1


def test_what_went_back_does_not_fail(tmp_path: Path) -> None:
    write_series(tmp_path, [*noisy(20), *noisy(10, 0.12, 20), *noisy(10, 0.1, 30)])
    done = _run(tmp_path)
    assert done.exit_code == 0, done.output
    assert "over" in done.output


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--commits", "10"], True),
        (["--commits", "9"], False),
        (["--commits", "1000"], True),
        (["--since", commit_hash(29)[:10]], True),
        (["--since", commit_hash(30)[:10]], False),
    ],
)
def test_older_changes_may_be_left_out(results: Path, arguments: list[str], shown: bool) -> None:
    done = _run(results, *arguments)
    assert (TIMES in done.output) is shown
    assert done.exit_code == (1 if shown else 0)


def test_json_is_written_whole(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "history.json"
    done = _run(results, "--json", str(out))
    assert done.exit_code == 1
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["schema"] == "decider-history"
    assert len(document["changes"]) == 1
    assert [path.name for path in out.parent.iterdir()] == ["history.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--machine", "mars"], "no result of machine 'mars'; there are reference"),
        (["--benchmark", "("], "no regular expression"),
        (["--benchmark", "nothing"], "no cell has 'nothing' in it"),
        (
            ["--since", "fffffff"],
            f"no such commit was measured; the newest ones are {commit_hash(39)[:8]}",
        ),
        (["--since", commit_hash(3)[:8], "--commits", "3"], "one of them says"),
        (["--results", "nowhere"], "no folder of asv results"),
        (["--commits", "0"], "--commits"),
    ],
)
def test_what_cannot_be_used_is_named_and_exit_status_2(
    results: Path, arguments: list[str], message: str
) -> None:
    done = _run(results, *arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_file_that_cannot_be_written_is_exit_status_2(results: Path, tmp_path: Path) -> None:
    done = _run(results, "--json", str(tmp_path))
    assert done.exit_code == 2
    assert "Traceback" not in done.output


@pytest.mark.parametrize("values", [[0.1], [None] * 20, [float("nan")] * 20, [0.0] * 20])
def test_there_may_be_nothing_to_search(tmp_path: Path, values: list[float | None]) -> None:
    write_series(tmp_path, values)
    done = _run(tmp_path)
    assert done.exit_code == 0, done.output
    assert "0 changes" in done.output


def test_damaged_files_and_new_series_are_told(results: Path) -> None:
    write_series(results, [0.1] * 2, first=40, torch="2.12.0")
    damaged = results / "machine1" / "damaged.json"
    damaged.parent.mkdir()
    damaged.write_text("{")
    done = _run(results)
    assert "not read:" in done.output
    assert "damaged.json" in done.output
    assert "new series of 1 cell from here: reference" in done.output
    assert "torch 2.11.0 -> 2.12.0" in done.output
    assert "1 series too short for a change" in done.output


def test_a_long_table_is_cut_and_says_so(tmp_path: Path) -> None:
    for number in range(2):
        extra = {f"{EXACT}{cell}": 1.0 + number for cell in range(5)}
        write_series(tmp_path, noisy(1), first=number, extra=extra)
    done = _run(tmp_path, "--limit", "2")
    assert done.output.count(EXACT) == 2
    assert "3 more changes: --limit 0 shows all" in done.output
    assert _run(tmp_path, "--limit", "0").output.count(EXACT) == 5


def test_names_are_no_markup(tmp_path: Path) -> None:
    for number in range(2):
        write_series(tmp_path, noisy(1), first=number, extra={f"{EXACT}[red]x[/": 1.0 + number})
    done = _run(tmp_path)
    assert f"{EXACT}[red]x[/" in done.output


def test_real_results_can_be_searched() -> None:
    folder = Path(__file__).parents[2] / "results"
    done = _run(folder, "--fail-on", "never")
    assert done.exit_code == 0, done.output
    assert "series searched" in done.output


def test_its_help_loads_neither_scipy_nor_asv() -> None:
    code = (
        "import sys; from decider.commands.history import history\n"
        "try: history(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({'asv', 'numpy', 'scipy', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
