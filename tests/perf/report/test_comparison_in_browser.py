"""The page of a comparison in a real browser; skipped where there is none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from decider.perf.report.page import render_comparison
from tests.perf.report.browser import (
    every,
    open_page,
    requests,
    screenshot,
    set_scheme,
    set_width,
    wait_until,
)
from tests.perf.report.comparison_parts import exact
from tests.perf.report.comparisons import void, whole
from tests.perf.report.test_page_in_browser import SCREENSHOTS


@pytest.fixture
def opened(browser: Any, compared_page: Path) -> Any:
    """The browser with the page of a comparison and results in it."""
    open_page(browser, compared_page)
    return browser


def test_it_draws_every_diagram_without_an_error_or_a_request(opened: Any) -> None:
    assert opened.get_log("browser") == []
    assert requests(opened) == {opened.current_url}
    assert len(every(opened, ".chart svg")) == len(every(opened, ".chart")) >= 10


def test_a_diagram_in_a_closed_part_is_drawn_in_full_when_it_is_opened(
    browser: Any, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    text = render_comparison(whole() | {"exact": exact([])})
    # Browsers that do not lay out what is closed, as this one does.
    older = "<style>\ndetails:not([open]) > :not(summary) { display: none }"
    page.write_text(text.replace("<style>", older, 1), encoding="utf-8")
    open_page(browser, page)

    def width() -> float:
        chart = "document.querySelector('#exact ~ details .chart svg')"
        found: float = browser.execute_script(f"return {chart}.getBoundingClientRect().width")
        return found

    assert width() == 0
    for summary in every(browser, "#exact ~ details > summary"):
        summary.click()
    wait_until(lambda: width() > 300)


def test_a_verdict_is_told_on_hover(opened: Any) -> None:
    from selenium.webdriver import ActionChains

    cell = every(opened, ".heat-map td.worse-2")[0]
    ActionChains(opened).scroll_to_element(cell).move_to_element(cell).perform()
    assert every(opened, ".heat-map output")[0].text == (
        "B 8, T 512: ▲ regressed; +12.0%, interval +11.0% to +13.0%; 18.4 ms → 20.6 ms; "
        "visible from +1.3%; 14 pairs"
    )


def test_arrow_keys_walk_the_verdicts(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    opened.execute_script("document.querySelector('.heat-map td').focus()")
    readout = every(opened, ".heat-map output")[0]
    assert readout.text.startswith("B 1, T 64: ▼ improved; −2.4%")
    for key in (Keys.ARROW_DOWN, Keys.ARROW_RIGHT):
        opened.switch_to.active_element.send_keys(key)
    assert readout.text == "B 2, T 128: ✕ failed; 0 pairs; head: out of memory"
    opened.switch_to.active_element.send_keys(Keys.END)
    assert readout.text.startswith("B 2, T 512: ? inconclusive; +30.0%, interval unbounded")
    opened.execute_script("document.activeElement.blur()")
    assert readout.text.startswith("▲ regressed, ▼ improved"), "the legend is back"


def test_verdicts_are_told_apart_without_their_colour(opened: Any) -> None:
    script = """
        return [...document.querySelectorAll('.heat-map td')]
          .filter((cell) => /inconclusive|failed|not-comparable/.test(cell.className))
          .map((cell) => getComputedStyle(cell).backgroundImage.split('(')[0])"""
    assert set(opened.execute_script(script)) == {
        "repeating-linear-gradient",
        "radial-gradient",
    }
    for cell in every(opened, ".heat-map:first-of-type tbody td")[:16]:
        assert cell.text[0] in "▲▼=?≠✕"


def test_the_filter_of_compared_cells_leaves_the_other_table_alone(opened: Any) -> None:
    every(opened, "#filter-compared-cells")[0].send_keys("plan regressed")
    outputs = every(opened, ".filter output")
    wait_until(lambda: outputs[0].text == "2 of 25 cells")
    total = len(every(opened, "#all-cells tbody tr"))
    assert outputs[1].text == f"{total} of {total} cells"


@pytest.mark.parametrize(("column", "header"), [(4, "change"), (7, "pairs"), (9, "base")])
def test_a_heading_sorts_by_what_its_numbers_mean(opened: Any, column: int, header: str) -> None:
    place = f"#compared-cells thead th:nth-child({column})"
    heading = every(opened, place)[0]
    assert heading.text.startswith(header)
    opened.execute_script("arguments[0].click()", every(opened, f"{place} button")[0])
    script = f"""
        return [...document.querySelectorAll('#compared-cells tbody tr')]
          .map((row) => row.cells[{column - 1}])
          .map((cell) => cell.dataset.key || cell.textContent.replace('−', '-').replace('%', ''))"""
    shown = [float(text) for text in opened.execute_script(script) if text]
    assert shown == sorted(shown)
    assert len(set(shown)) > 1
    assert heading.get_attribute("aria-sort") == "ascending"


@pytest.mark.parametrize("width", [400, 1000, 1600])
def test_no_width_makes_the_page_overflow(browser: Any, compared_page: Path, width: int) -> None:
    set_width(browser, width)
    open_page(browser, compared_page)
    overflow = "const e = document.documentElement; return e.scrollWidth - e.clientWidth"
    assert browser.execute_script(overflow) <= 0
    if folder := os.environ.get(SCREENSHOTS):
        for scheme in ("light", "dark"):
            set_scheme(browser, scheme)
            screenshot(browser, Path(folder, f"comparison-{width}-{scheme}.png"))


@pytest.mark.parametrize(
    ("scheme", "options"),
    [("light", {}), ("dark", {"runOnly": ["color-contrast", "link-in-text-block"]})],
)
def test_axe_finds_nothing(
    browser: Any, tmp_path: Path, scheme: str, options: dict[str, Any]
) -> None:
    """Of the comparison alone: sections of results are looked at on the page of results."""
    axe = pytest.importorskip("axe_core_python.selenium", reason="needs axe-core-python").Axe()
    page = tmp_path / "comparison.html"
    page.write_text(render_comparison(whole()), encoding="utf-8")
    open_page(browser, page)
    set_scheme(browser, scheme)
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    every(browser, "#filter-compared-cells")[0].send_keys("failed")
    browser.set_script_timeout(120)
    found = axe.run(browser, options=options)
    assert found["passes"], "axe looked at nothing"
    assert [
        (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found["violations"]
    ] == []


def test_a_void_run_is_unmistakable(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "void.html"
    page.write_text(render_comparison(void()), encoding="utf-8")
    open_page(browser, page)
    assert every(browser, ".banner h1")[0].text.upper() == "VOID: NO VERDICT OF THIS RUN COUNTS"
    assert every(browser, ".regressed, .improved, .worse-0, .worse-1, .better-0") == []
    assert browser.title.startswith("decider: void: ")
