"""The page in a real browser: it opens from disk, works by keyboard, and asks nobody for anything.

Skipped where Chromium, its driver or selenium is missing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.perf.report.browser import (
    every,
    open_page,
    requests,
    screenshot,
    set_scheme,
    set_width,
    wait_until,
)

SCREENSHOTS = "DECIDER_TEST_SCREENSHOTS"
"""A folder to write screenshots of each width to, for people; without it none are made."""


@pytest.fixture
def opened(browser: Any, whole_page: Path) -> Any:
    """The browser with the whole page in it."""
    open_page(browser, whole_page)
    return browser


def test_it_draws_every_diagram_without_an_error_or_a_request(opened: Any) -> None:
    assert opened.get_log("browser") == []
    assert requests(opened) == {opened.current_url}
    diagrams = every(opened, ".chart svg")
    assert len(diagrams) == len(every(opened, ".chart")) >= 6


def test_a_request_would_be_seen(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<!doctype html><img src="http://example.invalid/x.png">', encoding="utf-8")
    browser.get_log("performance")
    browser.get(page.as_uri())
    assert "http://example.invalid/x.png" in requests(browser)


def test_a_value_of_the_heat_map_is_told_on_hover(opened: Any) -> None:
    from selenium.webdriver import ActionChains

    cell = every(opened, ".heat-map td")[0]
    ActionChains(opened).scroll_to_element(cell).move_to_element(cell).perform()
    readout = every(opened, ".heat-map output")[0]
    assert readout.text.startswith("B 1, T 64: 2.26 ms (99% interval within this run")
    assert "9 samples" in readout.text


def test_arrow_keys_walk_the_heat_map(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    def focused() -> Any:
        return opened.switch_to.active_element

    opened.execute_script("document.querySelector('.heat-map td').focus()")
    focused().send_keys(Keys.ARROW_RIGHT)
    focused().send_keys(Keys.ARROW_DOWN)
    readout = every(opened, ".heat-map output")[0]
    assert readout.text == "B 2, T 128: failed"
    focused().send_keys(Keys.END)
    assert readout.text.startswith("B 2, T 1024: 10.2 ms")
    focused().send_keys(Keys.ARROW_RIGHT)  # at the edge it stays
    assert readout.text.startswith("B 2, T 1024")
    focused().send_keys(Keys.TAB)  # one stop of the tab key for the whole map
    assert opened.execute_script("return document.activeElement.closest('.heat-map')") != (
        opened.execute_script("return document.querySelector('.heat-map')")
    )


def test_each_heat_map_is_one_stop_of_the_tab_key(opened: Any) -> None:
    stops = """
        return [...document.querySelectorAll('.heat')]
          .map((map) => map.querySelectorAll('td[tabindex="0"]').length)"""
    assert set(opened.execute_script(stops)) == {1}


def test_the_filter_keeps_the_lines_with_every_word(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    field = every(opened, "#filter-all-cells")[0]
    field.send_keys("FORWARD failed")
    shown = [row.text for row in every(opened, "#all-cells tbody tr") if row.is_displayed()]
    assert len(shown) == 1
    assert "batch 2, length 128" in shown[0]
    total = len(every(opened, "#all-cells tbody tr"))
    assert every(opened, ".filter output")[0].text == f"1 of {total} cells"
    field.send_keys(Keys.CONTROL, "a", Keys.DELETE)
    wait_until(lambda: every(opened, ".filter output")[0].text == f"{total} of {total} cells")


def test_a_heading_sorts_by_number_and_back(opened: Any) -> None:
    button = every(opened, "#all-cells thead th:nth-child(5) button")[0]

    def keys() -> list[str]:
        script = """
            return [...document.querySelectorAll('#all-cells tbody tr')]
              .map((row) => row.cells[4].dataset.key || "")"""
        return list(opened.execute_script(script))

    opened.execute_script("arguments[0].click()", button)
    known = [float(key) for key in keys() if key]
    assert known == sorted(known)
    assert keys()[len(known) :] == [""] * (len(keys()) - len(known)), "cells without a number: last"
    opened.execute_script("arguments[0].click()", button)
    assert [float(key) for key in keys() if key] == known[::-1]
    heading = every(opened, "#all-cells thead th:nth-child(5)")[0]
    assert heading.get_attribute("aria-sort") == "descending"


def test_day_and_night_change_page_and_diagrams(opened: Any) -> None:
    def colours() -> tuple[str, str]:
        script = """
            const label = document.querySelector('.chart svg text');
            return [getComputedStyle(document.documentElement).backgroundColor,
                    getComputedStyle(label).fill];"""
        ground, text = opened.execute_script(script)
        return ground, text

    day = colours()
    set_scheme(opened, "dark")
    night = colours()
    assert day == ("rgb(255, 255, 255)", "rgb(26, 31, 38)")
    assert night == ("rgb(21, 24, 29)", "rgb(231, 234, 238)")


@pytest.mark.parametrize("width", [400, 1000, 1600])
def test_no_width_makes_the_page_overflow(browser: Any, whole_page: Path, width: int) -> None:
    set_width(browser, width)
    open_page(browser, whole_page)
    overflow = "const e = document.documentElement; return e.scrollWidth - e.clientWidth"
    assert browser.execute_script(overflow) <= 0
    if folder := os.environ.get(SCREENSHOTS):
        for scheme in ("light", "dark"):
            set_scheme(browser, scheme)
            screenshot(browser, Path(folder, f"{width}-{scheme}.png"))


@pytest.mark.parametrize(
    ("scheme", "options"),
    [("light", {}), ("dark", {"runOnly": ["color-contrast", "link-in-text-block"]})],
)
def test_axe_finds_nothing(opened: Any, scheme: str, options: dict[str, Any]) -> None:
    axe = pytest.importorskip("axe_core_python.selenium", reason="needs axe-core-python").Axe()
    set_scheme(opened, scheme)
    opened.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    every(opened, "#filter-all-cells")[0].send_keys(
        "failed"
    )  # a hundred lines more would only take longer
    opened.set_script_timeout(120)
    found = axe.run(opened, options=options)
    assert found["passes"], "axe looked at nothing"
    assert [
        (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found["violations"]
    ] == []


def test_hostile_values_do_nothing(browser: Any, hostile_page: Path) -> None:
    open_page(browser, hostile_page)
    assert browser.execute_script("return window.hacked === undefined")
    assert browser.get_log("browser") == []
    assert requests(browser) == {browser.current_url}
    assert every(browser, "img, main script, header script, [onload], [onerror], [onfocus]") == []
    assert len(every(browser, ".chart svg")) == len(every(browser, ".chart")) > 0
    assert {link.get_attribute("href").split("#")[0] for link in every(browser, "a")} == {
        browser.current_url.split("#")[0]
    }
