"""A page with everything on it, a hostile page, and the browser that opens them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.perf.report.hostile import write_hostile_results
from tests.perf.report.results import COMMIT, OLDER, write_grid_file, write_results


@pytest.fixture(scope="session")
def whole_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two commits and a grid file."""
    from decider.perf.report.page import render
    from decider.perf.report.results_folder import read_results_folder

    folder = tmp_path_factory.mktemp("whole")
    write_results(folder / "results")
    write_results(
        folder / "results", commit=OLDER, committed_ms=1_750_000_000_000, slower=0.9, torch="2.10"
    )
    read = read_results_folder(folder / "results")
    grid = write_grid_file(folder / "grid.json")
    page = folder / "report.html"
    text = render(read.choose(commit=COMMIT), read.choose(commit=OLDER), grid)
    page.write_text(text, encoding="utf-8")
    return page


@pytest.fixture(scope="session")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two results with a hostile value in every field."""
    from decider.perf.report.page import render
    from decider.perf.report.results_folder import read_results_folder

    folder = tmp_path_factory.mktemp("hostile")
    write_hostile_results(folder / "results")
    read = read_results_folder(folder / "results")
    page = folder / "report.html"
    newest = read.choose()
    oldest = min(read.results, key=lambda result: result.age)
    page.write_text(render(newest, oldest, None, [newest.machine]), encoding="utf-8")
    return page


@pytest.fixture(scope="session")
def started_browser() -> Iterator[Any]:
    """A headless Chromium without a network, driven by selenium."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    service = pytest.importorskip("selenium.webdriver.chrome.service")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not browser or not driver:
        pytest.skip("needs chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses root without it
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    started = webdriver.Chrome(options=options, service=service.Service(driver))
    started.execute_cdp_cmd("Network.enable", {})
    started.set_network_conditions(offline=True, latency=0, throughput=0)
    yield started
    started.quit()
