"""The page as text; in a browser it is tested by test_page_in_browser.py."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from decider.perf.report.page import render, render_comparison
from decider.perf.report.results_folder import read_results_folder
from tests.perf.report import comparisons
from tests.perf.report.hostile import ATTACKS
from tests.perf.report.results import benchmark, end_to_end, sampled, write_results

MOST_BYTES = 3_000_000


class _Reader(HTMLParser):
    """What a browser would make of a page: its elements, and the texts of its scripts."""

    def __init__(self, page: Path | str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.headings: list[str] = []
        self._in_heading = False
        self._in_script = self._in_style = False
        self.feed(page if isinstance(page, str) else page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append("")
            self._in_heading = True
        self._in_script, self._in_style = tag == "script", tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._in_script = self._in_script and tag != "script"
        self._in_style = self._in_style and tag != "style"
        self._in_heading = self._in_heading and not re.fullmatch("h[1-6]", tag)

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data
        elif not self._in_style:
            self.text += data
            if self._in_heading:
                self.headings[-1] += data


@pytest.fixture(params=["whole_page", "compared_page", "hostile_page"])
def any_page(request: pytest.FixtureRequest) -> Path:
    """Each of the pages in turn."""
    page: Path = request.getfixturevalue(request.param)
    return page


def test_the_policy_lets_run_only_the_two_scripts_there_are(any_page: Path) -> None:
    page = _Reader(any_page)
    (policy,) = [
        attributes["content"]
        for _, attributes in page.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    _, bundle, own = page.scripts
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in (bundle, own)
    ]
    assert re.findall(r"script-src ([^;]*);", policy) == [" ".join(hashes)]
    assert "unsafe-eval" not in policy


def test_nothing_in_it_names_another_address(any_page: Path) -> None:
    for _, attributes in _Reader(any_page).elements:
        for name in ("src", "href", "action", "data", "srcset"):
            assert (attributes.get(name) or "#").startswith(("#", "data:,"))
    assert "url(" not in any_page.read_text(encoding="utf-8").split("</style>")[0]


def test_it_has_one_bundle_for_all_its_diagrams(any_page: Path) -> None:
    page = _Reader(any_page)
    assert len(page.scripts) == 3
    specifications = json.loads(page.scripts[0])
    assert len(specifications) >= 5
    assert [a["id"] for _, a in page.elements if (a.get("id") or "").startswith("chart-")] == [
        f"chart-{number}" for number in range(len(specifications))
    ]


def test_headings_descend_one_level_at_a_time(any_page: Path) -> None:
    levels = [int(t[1]) for t, _ in _Reader(any_page).elements if re.fullmatch(r"h[1-6]", t)]
    assert levels[0] == 1
    assert all(now <= before + 1 for before, now in pairwise(levels))


def test_identifiers_are_unique(any_page: Path) -> None:
    identifiers = [a["id"] for _, a in _Reader(any_page).elements if "id" in a]
    assert sorted(identifiers) == sorted(set(identifiers))


def test_it_claims_no_verdict(whole_page: Path, tmp_path: Path) -> None:
    assert "which is not a verdict" in _Reader(whole_page).text
    write_results(tmp_path)
    alone = _Reader(render(read_results_folder(tmp_path).choose())).text
    assert "this page compares nothing" in alone
    for text in (alone, _Reader(whole_page).text):
        assert not re.search(r"regress|improve|inconclusive", text, re.IGNORECASE)


def test_a_hostile_result_adds_no_element_and_no_attribute(
    whole_page: Path, compared_page: Path, hostile_page: Path
) -> None:
    alone = render_comparison(comparisons.all_failed())
    known = {
        (tag, name)
        for page in (whole_page, compared_page, alone)
        for tag, attributes in _Reader(page).elements
        for name in attributes
    }
    page = _Reader(hostile_page)
    found = {(tag, name) for tag, attributes in page.elements for name in attributes}
    assert found <= known
    assert len(page.scripts) == 3
    for attack in ATTACKS:
        shown = attack.replace("\x00", "\ufffd")
        assert shown in page.text or attack in page.text, "it is shown as the text it is"
    assert "<" not in page.scripts[0]


def test_an_empty_result_makes_a_page_that_says_so(tmp_path: Path) -> None:
    write_results(tmp_path, benchmarks={})
    text = _Reader(render(read_results_folder(tmp_path).choose())).text
    for sentence in (
        "The result holds no benchmark.",
        "This result holds no forwards.",
        "This result holds no costs of plans.",
        "there is nothing to fit a line to",
        "This result holds no times of planning.",
        "This result holds no footprint.",
    ):
        assert sentence in text


def test_a_page_where_all_failed(tmp_path: Path) -> None:
    write_results(
        tmp_path,
        benchmarks={
            name: benchmark({"mix": ["short"], "rows": [8], "cost": ["ladder"]}, None, "")
            for name in ("plans.Plans.track_overhead", "planner.Planning.time_plan")
        },
    )
    text = _Reader(render(read_results_folder(tmp_path).choose())).text
    assert "2 benchmarks with 2 cells: 0 measured, 2 failed, 0 skipped." in text


def test_two_thousand_cells_stay_under_three_megabytes(tmp_path: Path) -> None:
    cells = [sampled(1e-3 * (1 + number), count=60) for number in range(2_000)]
    content = {"many.Many.track_it": benchmark({"number": range(2_000)}, cells, "seconds")}
    write_results(tmp_path, benchmarks={**content})
    page = render(read_results_folder(tmp_path).choose())
    assert page.count("many.Many.track_it") == 2_000
    assert len(page.encode()) < MOST_BYTES


def test_the_same_result_makes_the_same_page(tmp_path: Path) -> None:
    write_results(tmp_path)
    result = read_results_folder(tmp_path).choose()
    assert render(result) == render(result)


def test_no_template_switches_escaping_off() -> None:
    from importlib import resources

    templates = list((resources.files("decider.perf.report") / "templates").iterdir())
    assert len(templates) > 15
    for template in templates:
        assert not re.search(r"\|\s*safe|autoescape", template.read_text(encoding="utf-8"))


def test_without_comparison_and_result_there_is_no_page() -> None:
    with pytest.raises(ValueError, match="nothing to show"):
        render()


def test_a_comparison_alone_makes_a_page() -> None:
    page = _Reader(render_comparison(comparisons.whole()))
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
    page = _Reader(compared_page)
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
    page = _Reader(render_comparison(make()))
    for sentence in sentences:
        assert sentence in page.text
    assert "None" not in page.text
    assert "nan" not in page.text
    levels = [int(t[1]) for t, _ in page.elements if re.fullmatch(r"h[1-6]", t)]
    assert all(now <= before + 1 for before, now in pairwise(levels))


def test_a_void_run_calls_no_cell_regressed() -> None:
    page = _Reader(render_comparison(comparisons.void()))
    counts, rest = page.text.split("The two sides differ", 1)
    assert "5 ▲ regressed (void)" in re.sub(r"\s+", " ", counts)
    assert "▲ regressed" not in rest.replace("▲ 5 regressed", "")
    assert not any(a.get("class") in ("regressed", "worse-1") for _, a in page.elements)


def test_a_number_that_cannot_be_meant_makes_no_page() -> None:
    document = comparisons.whole()
    document["cells"][3]["change"] = float("inf")
    with pytest.raises(ValueError, match="cells/3/change"):
        render_comparison(document)


def test_two_thousand_compared_cells_of_forty_pairs_stay_under_three_megabytes() -> None:
    page = render_comparison(comparisons.large())
    assert page.count('<tr><th scope="row">forward/') == 2_000
    assert len(page.encode()) < MOST_BYTES


def test_two_thousand_cells_and_five_hundred_commits_stay_under_three_megabytes(
    tmp_path: Path,
) -> None:
    cells = [sampled(1e-3 * (1 + number), count=60) for number in range(2_000)]
    content = {"many.Many.track_it": benchmark({"number": range(2_000)}, cells, "seconds")}
    name = "end_to_end.EndToEnd.track_seconds_per_1000_rows"
    for number in range(500):
        values = {name: end_to_end(1 + number % 7 / 100 + (number > 300))[name]}
        write_results(
            tmp_path,
            commit=f"{number:040x}",
            committed_ms=1_700_000_000_000 + number,
            benchmarks=values | (content if number == 499 else {}),
        )
    folder = read_results_folder(tmp_path)
    page = render(folder.choose(), results=folder.results)
    assert "500 commits of machine reference" in page
    assert page.count("many.Many.track_it") == 2_000
    assert len(page.encode()) < MOST_BYTES


def test_a_page_of_both_keeps_to_it_too(tmp_path: Path) -> None:
    cells = [sampled(1e-3 * (1 + number), count=60) for number in range(2_000)]
    content = {"many.Many.track_it": benchmark({"number": range(2_000)}, cells, "seconds")}
    write_results(tmp_path, benchmarks={**content})
    page = render(read_results_folder(tmp_path).choose(), comparison=comparisons.large())
    assert len(page.encode()) < MOST_BYTES
