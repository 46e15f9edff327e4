"""The page of a comparison as text; in a browser it is tested by test_comparison_in_browser.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from decider.perf.report.page import render, render_comparison
from decider.perf.report.results_folder import read_results_folder
from tests.perf.report import comparisons
from tests.perf.report.reader import Reader
from tests.perf.report.results import benchmark, end_to_end, every_benchmark, sampled, write_results
from tests.perf.report.test_page import MOST_BYTES


def test_a_comparison_alone_makes_a_page() -> None:
    page = Reader(render_comparison(comparisons.whole()))
    assert page.headings[0] == "Regression"
    for text in (
        "5 of 24 cells regressed.",
        "0 of 20 unchanged runs raised an alarm (at most 13.9% at 95% confidence)",
        "The two sides differ in what they were measured on:",
        "decider compare 0f0e0d0c0b0a 1a2b3c4d5e6f --profile quick",
        "Of 1,234 exact figures, 1 rose and 1 fell.",
        "The overhead of head is 1.100 times that of base",
        "Not measured: a comparison does not load the server.",
    ):
        assert text in page.text
    assert "What asv measured" not in page.text


def test_with_results_the_run_stands_below_and_gets_no_verdict(compared_page: Path) -> None:
    page = Reader(compared_page)
    assert page.headings[0] == "Regression"
    places = [
        page.headings.index(title)
        for title in (
            "Forwards: head beside base",
            "All compared cells",
            "What asv measured at head",
            "Differences from the baseline",
            "End to end",
            "History on this machine",
            "All cells",
        )
    ]
    assert places == sorted(places)
    assert "No verdict stands on it." in page.text
    assert "14 commits of machine reference" in page.text
    assert "▼ better" in page.text, "a step in the history"


@pytest.mark.parametrize(
    ("make", "sentences"),
    [
        (
            comparisons.empty,
            (
                "Nothing was compared.",
                "Both sides were measured on the same things.",
                "This machine has no self-test",
                "decider compare --self-test",
                "No forward was compared.",
                "Exact figures were not compared.",
                "No cost model was fitted.",
                "No process and no cell failed.",
                "No cell was compared.",
            ),
        ),
        (
            comparisons.one_sided,
            (
                "No process of head ever started,",
                "ImportError: no torch",
                "Head has no line.",
                "Only base has 84 more.",
            ),
        ),
        (comparisons.all_failed, ("All cells failed.", "4 ✕ failed", "both: no memory")),
        (comparisons.all_inconclusive, ("No cell was decided.", "4 ? inconclusive", "400")),
        (
            comparisons.not_comparable,
            ("No cell could be compared.", "4 ≠ not comparable", "the grids differ"),
        ),
        (
            comparisons.void,
            (
                "Void: no verdict of this run counts",
                "the control changed by +4.0%",
                "The run is void: no square is a verdict.",
                "none of these verdicts counts",
            ),
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_comparisons_without_verdicts_read_well(
    make: Callable[[], dict[str, Any]], sentences: tuple[str, ...]
) -> None:
    page = Reader(render_comparison(make()))
    for sentence in sentences:
        assert sentence in page.text
    assert "None" not in page.text
    assert "nan" not in page.text
    levels = [int(t[1]) for t, _ in page.elements if re.fullmatch(r"h[1-6]", t)]
    assert all(now <= before + 1 for before, now in pairwise(levels))


def test_a_void_run_calls_no_cell_regressed() -> None:
    page = Reader(render_comparison(comparisons.void()))
    counts, rest = page.text.split("The two sides differ", 1)
    assert "5 ▲ regressed (void)" in re.sub(r"\s+", " ", counts)
    assert "▲ regressed" not in rest.replace("▲ 5 regressed", "")
    assert not any(a.get("class") in ("regressed", "worse-1") for _, a in page.elements)


def test_two_thousand_compared_cells_of_forty_pairs_stay_under_three_megabytes() -> None:
    page = render_comparison(comparisons.large())
    assert page.count('<tr><th scope="row">forward/') == 2_000
    assert len(page.encode()) < MOST_BYTES


def test_a_page_of_both_with_five_hundred_commits_keeps_to_it_too(tmp_path: Path) -> None:
    times = [sampled(1e-3 * (1 + number)) for number in range(2_000)]
    axes = {"batch": range(40), "length": range(50)}
    forwards = {"forward.Forward.track_seconds": benchmark(axes, times, "seconds")}
    for number in range(500):
        write_results(
            tmp_path,
            commit=f"{number:040x}",
            committed_ms=1_700_000_000_000 + number,
            benchmarks=end_to_end(1 + number % 7 / 100 + (number > 300))
            | (every_benchmark() | forwards if number == 499 else {}),
        )
    folder = read_results_folder(tmp_path)
    page = render(folder.choose(), comparison=comparisons.large(), results=folder.results)
    assert "500 commits of machine reference" in page
    assert "Intervals and samples are told in the table of all cells." in page
    assert len(page.encode()) < MOST_BYTES
