"""The site in a real browser, from disk and without a network.

Skipped where Chromium, its driver or selenium is missing.
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decider.perf.history.results_reader import read_history
from decider.perf.site.benchmark_page import benchmark_address, cell_anchor
from decider.perf.site.build import build_site
from tests.perf.site.histories import commit_hash, find_jumps, write_history
from tests.perf.site.test_build import write_hostile_site

PATIENCE_S = 30
SCREENSHOTS = "DECIDER_TEST_SCREENSHOTS"
"""A folder to write screenshots to, for people; without it none are made."""

FORWARDS = benchmark_address("reference", "forward.Forward.track_seconds")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of forty commits in two environments."""
    folder = tmp_path_factory.mktemp("browser")
    write_history(folder / "results", count=40, step_at=25)
    for path in sorted((folder / "results").glob("*/[0-9]*.json"))[::2]:
        values = json.loads(path.read_text(encoding="utf-8"))
        values["params"]["torch"] = "2.12.0"
        path.write_text(json.dumps(values), encoding="utf-8")
    history, _ = read_history(folder / "results")
    build_site(history, folder / "site", find=find_jumps, render=lambda _: "")
    return folder / "site"


@pytest.fixture
def browser(started_browser: Any) -> Any:
    """The browser as it is for a day's reader: 1,000 pixels wide, light."""
    _size(started_browser, 1000)
    _scheme(started_browser, "light")
    return started_browser


def test_the_diagram_is_drawn_from_disk_with_the_program_beside_it(
    browser: Any, site: Path
) -> None:
    _open(browser, site / FORWARDS)
    assert len(_all(browser, ".chart svg")) == 1
    assert browser.get_log("browser") == []
    program = (site / "vega.js").as_uri()
    assert _requests(browser) == {(site / FORWARDS).as_uri(), program}


def test_nothing_but_the_pages_own_script_may_add_one(browser: Any, site: Path) -> None:
    """The policy is in force: markup that got through all the same would do nothing."""
    text = (site / FORWARDS).read_text(encoding="utf-8")
    attack = (
        "<script>window.hacked = 1</script><script src='../hack.js'></script>"
        "<img src=x onerror='window.hacked = 2'>"
    )
    (site / "hack.js").write_text("window.hacked = 3", encoding="utf-8")
    page = site / "benchmarks" / "attacked.html"
    page.write_text(text.replace('<section aria-labelledby="cells">', f"{attack}<section>"))
    try:
        _open(browser, page)
        assert browser.execute_script("return window.hacked === undefined")
    finally:
        page.unlink()
        (site / "hack.js").unlink()
        browser.get_log("browser")


def test_a_missing_program_leaves_the_values(browser: Any, site: Path) -> None:
    program = site / "vega.js"
    program.rename(site / "away.js")
    try:
        browser.get((site / FORWARDS).as_uri())
        _wait(lambda: "missing" in _all(browser, ".chart")[0].get_attribute("textContent"))
        assert len(_all(browser, "#values tbody tr")) == 40
    finally:
        (site / "away.js").rename(program)
        browser.get_log("browser")


def test_the_first_cell_is_shown_and_its_values_are_a_table(browser: Any, site: Path) -> None:
    _open(browser, site / FORWARDS)
    assert _all(browser, "#shown")[0].text == "batch 1, length 128"
    said = _all(browser, "#changes-said")[0].text
    assert said.startswith("Changes: step, ▲ worse, +20.0%, in force: after ")
    browser.execute_script("document.querySelector('details').open = true")
    rows = [row.text for row in _all(browser, "#values tbody tr")]
    assert len(rows) == 40
    assert rows[0].startswith(f"40 {commit_hash(39)[:8]} 2023-11-")
    assert "3.6 ms" in rows[0]
    assert sum("step, ▲ worse, +20.0%, in force" in row for row in rows) == 2, (
        "one in each environment"
    )


def test_a_cell_is_chosen_by_keyboard_and_has_an_address(browser: Any, site: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    _open(browser, site / FORWARDS)
    link = _all(browser, f'#all-cells a[href="#{cell_anchor("batch 1, length 64")}"]')[0]
    link.send_keys(Keys.ENTER)
    heading = _all(browser, "#shown")[0]
    _wait(lambda: heading.text == "batch 1, length 64")
    assert browser.switch_to.active_element == heading, "a screen reader hears what is shown"
    assert _all(browser, "#changes-said")[0].text == "No change was found."
    assert browser.get_log("browser") == []
    address = browser.current_url
    browser.get("about:blank")
    browser.get(address)
    _wait(lambda: _all(browser, "#shown")[0].text == "batch 1, length 64")


def test_the_first_pages_link_leads_to_the_cell_that_changed(browser: Any, site: Path) -> None:
    _open(browser, site / "index.html")
    link = _all(browser, "#changes ~ .scroll a")[0]
    link.click()
    _wait(lambda: len(_all(browser, ".chart svg")) == 1)
    assert _all(browser, "#shown")[0].text == "batch 1, length 128"


def test_a_cell_that_has_no_value_says_so(browser: Any, site: Path) -> None:
    _open(browser, site / f"{FORWARDS}", f"#{cell_anchor('batch 2, length 128')}")
    assert _all(browser, "#values tbody tr") == []
    assert _all(browser, "#changes-said")[0].text == "No value was measured."
    assert _all(browser, "#shown")[0].text == "batch 2, length 128"


def test_the_filter_keeps_the_lines_with_every_word(browser: Any, site: Path) -> None:
    _open(browser, site / "index.html")
    field = _all(browser, "#filter-all-commits")[0]
    field.send_keys(commit_hash(3)[:12])
    shown = [row for row in _all(browser, "#all-commits tbody tr") if row.is_displayed()]
    assert len(shown) == 1
    assert _all(browser, ".filter output")[0].text == "1 of 40 lines"


def _pages(site: Path) -> list[Path]:
    return [
        site / "index.html",
        site / FORWARDS,
        site / "commits" / f"{commit_hash(25)}.html",
    ]


@pytest.mark.parametrize("width", [400, 1000, 1600])
def test_no_width_makes_a_page_overflow(browser: Any, site: Path, width: int) -> None:
    _size(browser, width)
    for page in _pages(site):
        _open(browser, page)
        overflow = "const e = document.documentElement; return e.scrollWidth - e.clientWidth"
        assert browser.execute_script(overflow) <= 0, page
        if folder := os.environ.get(SCREENSHOTS):
            for scheme in ("light", "dark"):
                _scheme(browser, scheme)
                _screenshot(browser, Path(folder, f"{page.parent.name}-{width}-{scheme}.png"))
            _scheme(browser, "light")


@pytest.mark.parametrize(
    ("scheme", "options"),
    [("light", {}), ("dark", {"runOnly": ["color-contrast", "link-in-text-block"]})],
)
def test_axe_finds_nothing(browser: Any, site: Path, scheme: str, options: dict[str, Any]) -> None:
    axe = pytest.importorskip("axe_core_python.selenium", reason="needs axe-core-python").Axe()
    _scheme(browser, scheme)
    browser.set_script_timeout(120)
    for page in _pages(site):
        _open(browser, page)
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        found = axe.run(browser, options=options)
        assert found["passes"], "axe looked at nothing"
        assert [
            (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"][:3]])
            for one in found["violations"]
        ] == [], page


def test_strangers_values_do_nothing(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    site = write_hostile_site(tmp_path_factory.mktemp("hostile"))
    pages = [page for page in site.rglob("*.html") if page.parent.name != "reports"]
    assert len(pages) > 10
    for page in pages:
        _open(browser, page)
        assert browser.execute_script("return window.hacked === undefined"), page
        assert browser.get_log("browser") == [], page
        assert _requests(browser) <= {page.as_uri(), (site / "vega.js").as_uri()}, page
        assert _all(browser, "img, main script, header script, [onerror], [onfocus]") == []


def _open(browser: Any, page: Path, fragment: str = "") -> None:
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(page.as_uri() + fragment)
    _wait(lambda: all(_drawn(chart) for chart in _all(browser, ".chart")))


def _drawn(chart: Any) -> bool:
    text: str = chart.get_attribute("textContent")
    return bool(chart.find_elements("css selector", "svg")) or text == "No value was measured."


def _wait(condition: Callable[[], bool]) -> None:
    """Wait for the browser, which draws when it gets to it."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "the browser did not get there"
        time.sleep(0.05)


def _all(browser: Any, selector: str) -> list[Any]:
    found: list[Any] = browser.find_elements("css selector", selector)
    return found


def _requests(browser: Any) -> set[str]:
    """Every address that was asked for since the page was opened."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = {
        message["params"]["request"]["url"].partition("#")[0]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    }
    return {url for url in urls if not url.startswith("data:")}


def _size(browser: Any, width: int) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def _scheme(browser: Any, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def _screenshot(browser: Any, path: Path) -> None:
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode(shot["data"]))
