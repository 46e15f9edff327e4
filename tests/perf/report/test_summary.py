"""The head of the report."""

from __future__ import annotations

import shlex
from pathlib import Path

from decider.perf.report.results_folder import read_results_folder
from decider.perf.report.summary import summary
from tests.perf.report.results import COMMIT, OLDER, benchmark, write_results


def test_it_counts_what_was_measured_failed_and_skipped(tmp_path: Path) -> None:
    write_results(tmp_path)
    found = summary(read_results_folder(tmp_path).choose())
    assert found.sentence == (
        "13 benchmarks with 116 cells: 113 measured, 2 failed, 1 skipped. "
        "No samples were recorded for 1 of the noisy ones."
    )
    assert found.failed == (
        "forward.Forward.track_seconds (1 cell)",
        "footprint.Footprint.track_peak_bytes (1 cell)",
    )


def test_a_long_list_of_failures_is_cut(tmp_path: Path) -> None:
    content = {f"b{number}": benchmark({}, None, "") for number in range(20)}
    write_results(tmp_path, benchmarks=content)
    failed = summary(read_results_folder(tmp_path).choose()).failed
    assert len(failed) == 13
    assert failed[-1] == "and 8 more"


def test_an_empty_result_says_so(tmp_path: Path) -> None:
    write_results(tmp_path, benchmarks={})
    assert summary(read_results_folder(tmp_path).choose()).sentence == (
        "The result holds no benchmark."
    )


def test_what_it_was_measured_on_is_told_and_what_nobody_recorded(tmp_path: Path) -> None:
    write_results(tmp_path, benchmarks={}, os="Linux", driver="550")
    facts = dict(summary(read_results_folder(tmp_path).choose()).facts)
    assert facts["commit"] == COMMIT
    assert facts["committed"] == "2025-10-09 08:53 UTC"
    assert (facts["memory"], facts["gpu"], facts["driver"]) == ("15.6 GiB", "not recorded", "550")


def test_a_machines_name_cannot_leave_its_word_in_the_command(tmp_path: Path) -> None:
    hostile = "x'; rm -rf ~ #$(reboot)\n`halt`"
    write_results(tmp_path, machine=hostile, benchmarks={})
    write_results(
        tmp_path, machine=hostile, commit=OLDER, committed_ms=1_700_000_000_000, benchmarks={}
    )
    read = read_results_folder(tmp_path)
    *runs, command = summary(read.choose(), read.choose(commit=OLDER), Path("a b.json")).commands
    assert runs == [f"asv run --record-samples '{c[:12]}^!'" for c in (COMMIT, OLDER)]
    assert shlex.split(command) == [
        *("decider", "report", "--machine", hostile, "--commit", COMMIT[:12]),
        *("--baseline", OLDER[:12], "--grid", "a b.json"),
    ]
