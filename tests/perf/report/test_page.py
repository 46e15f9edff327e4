"""The page as text; in a browser it is tested by test_page_in_browser.py."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from decider.perf.report.page import render, render_comparison
from decider.perf.report.results_folder import read_results_folder
from tests.perf.report import comparisons
from tests.perf.report.hostile import ATTACKS
from tests.perf.report.reader import Reader
from tests.perf.report.results import benchmark, end_to_end, sampled, write_results

MOST_BYTES = 3_000_000


@pytest.fixture(params=["whole_page", "compared_page", "hostile_page"])
def any_page(request: pytest.FixtureRequest) -> Path:
    """Each of the pages in turn."""
    page: Path = request.getfixturevalue(request.param)
    return page


def test_the_policy_lets_run_only_the_two_scripts_there_are(any_page: Path) -> None:
    page = Reader(any_page)
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
    for _, attributes in Reader(any_page).elements:
        for name in ("src", "href", "action", "data", "srcset"):
            assert (attributes.get(name) or "#").startswith(("#", "data:,"))
    assert "url(" not in any_page.read_text(encoding="utf-8").split("</style>")[0]


def test_it_has_one_bundle_for_all_its_diagrams(any_page: Path) -> None:
    page = Reader(any_page)
    assert len(page.scripts) == 3
    specifications = json.loads(page.scripts[0])
    assert len(specifications) >= 5
    assert [a["id"] for _, a in page.elements if (a.get("id") or "").startswith("chart-")] == [
        f"chart-{number}" for number in range(len(specifications))
    ]


def test_headings_descend_one_level_at_a_time(any_page: Path) -> None:
    levels = [int(t[1]) for t, _ in Reader(any_page).elements if re.fullmatch(r"h[1-6]", t)]
    assert levels[0] == 1
    assert all(now <= before + 1 for before, now in pairwise(levels))


def test_identifiers_are_unique(any_page: Path) -> None:
    identifiers = [a["id"] for _, a in Reader(any_page).elements if "id" in a]
    assert sorted(identifiers) == sorted(set(identifiers))


def test_it_claims_no_verdict(whole_page: Path, tmp_path: Path) -> None:
    assert "which is not a verdict" in Reader(whole_page).text
    write_results(tmp_path)
    alone = Reader(render(read_results_folder(tmp_path).choose())).text
    assert "this page compares nothing" in alone
    for text in (alone, Reader(whole_page).text):
        assert not re.search(r"regress|improve|inconclusive", text, re.IGNORECASE)


def test_a_hostile_result_adds_no_element_and_no_attribute(
    whole_page: Path, compared_page: Path, hostile_page: Path
) -> None:
    alone = render_comparison(comparisons.all_failed())
    known = {
        (tag, name)
        for page in (whole_page, compared_page, alone)
        for tag, attributes in Reader(page).elements
        for name in attributes
    }
    page = Reader(hostile_page)
    found = {(tag, name) for tag, attributes in page.elements for name in attributes}
    assert found <= known
    assert len(page.scripts) == 3
    for attack in ATTACKS:
        shown = attack.replace("\x00", "\ufffd")
        assert shown in page.text or attack in page.text, "it is shown as the text it is"
    assert "<" not in page.scripts[0]


def test_an_empty_result_makes_a_page_that_says_so(tmp_path: Path) -> None:
    write_results(tmp_path, benchmarks={})
    text = Reader(render(read_results_folder(tmp_path).choose())).text
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
    text = Reader(render(read_results_folder(tmp_path).choose())).text
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


def test_steps_and_sides_link_to_their_commits_where_the_repository_has_an_address(
    tmp_path: Path,
) -> None:
    name = "end_to_end.EndToEnd.track_seconds_per_1000_rows"
    for number in range(24):
        write_results(
            tmp_path,
            commit=f"{number:040x}",
            committed_ms=1_700_000_000_000 + number,
            benchmarks={name: end_to_end(1 + number % 3 / 1000 + (number >= 12))[name]},
        )
    folder, document = read_results_folder(tmp_path), comparisons.whole()

    def links(url: str | None) -> set[str]:
        page = render(
            folder.choose(), comparison=document, results=folder.results, repository_url=url
        )
        return set(re.findall(r'href="(https:[^"]*)"', page))

    address = "https://example.org/decider"
    commits = [document["base"]["commit"], document["head"]["commit"], f"{11:040x}", f"{12:040x}"]
    assert links(address) == {f"{address}/commit/{commit}" for commit in commits}
    assert links(None) == set()


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
