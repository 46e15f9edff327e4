"""A page with everything on it, a hostile page, and the browser that opens them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.perf.report.browser import set_scheme, set_width
from tests.perf.report.comparisons import whole
from tests.perf.report.hostile import EVERYTHING, hostile_comparison, write_hostile_results
from tests.perf.report.results import (
    COMMIT,
    OLDER,
    end_to_end,
    every_benchmark,
    write_grid_file,
    write_results,
)

if TYPE_CHECKING:
    from decider.perf.report.result_file import Result


@pytest.fixture(scope="session")
def whole_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two commits and a grid file."""
    from decider.perf.report.page import render

    folder = tmp_path_factory.mktemp("whole")
    newest, older, _ = _two_results(folder / "results")
    grid = write_grid_file(folder / "grid.json")
    return _written(folder, render(newest, older, grid))


@pytest.fixture(scope="session")
def compared_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a comparison with every verdict, of results of both sides and of a history."""
    from decider.perf.report.page import render

    folder = tmp_path_factory.mktemp("compared")
    for number in range(12):
        write_results(
            folder / "results",
            commit=f"{number:040x}",
            committed_ms=1_700_000_000_000 + number,
            benchmarks=every_benchmark() | end_to_end(1 + number % 3 / 500 + (number < 6)),
            torch="2.10",
        )
    newest, older, results = _two_results(folder / "results")
    return _written(folder, render(newest, older, comparison=whole(), results=results))


@pytest.fixture(scope="session")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two results and a comparison with a hostile value in every field."""
    from decider.perf.report.page import render
    from decider.perf.report.results_folder import read_results_folder

    folder = tmp_path_factory.mktemp("hostile")
    write_hostile_results(folder / "results")
    read = read_results_folder(folder / "results")
    newest = read.choose()
    oldest = min(read.results, key=lambda result: result.age)
    return _written(
        folder,
        render(
            newest,
            oldest,
            None,
            [newest.machine],
            comparison=hostile_comparison(EVERYTHING),
            results=read.results,
        ),
    )


def _two_results(folder: Path) -> tuple[Result, Result, Sequence[Result]]:
    from decider.perf.report.results_folder import read_results_folder

    write_results(folder, benchmarks=every_benchmark() | end_to_end())
    write_results(
        folder,
        commit=OLDER,
        committed_ms=1_750_000_000_000,
        benchmarks=every_benchmark(0.9) | end_to_end(0.99),
        torch="2.10",
    )
    read = read_results_folder(folder)
    return read.choose(commit=COMMIT), read.choose(commit=OLDER), read.results


def _written(folder: Path, page: str) -> Path:
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


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


@pytest.fixture
def browser(started_browser: Any) -> Any:
    """The browser as it is for a day's reader: 1,000 pixels wide, light."""
    set_width(started_browser, 1000)
    set_scheme(started_browser, "light")
    return started_browser
