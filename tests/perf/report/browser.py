"""Driving the browser that the pages are opened in."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE_S = 30


def open_page(browser: Any, page: Path) -> None:
    """Open a page and wait until its diagrams are drawn; the logs are then of it alone."""
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(page.as_uri())
    count = len(every(browser, ".chart"))
    wait_until(lambda: len(every(browser, ".chart svg")) == count)


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for the browser, which draws when it gets to it."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "the browser did not get there"
        time.sleep(0.05)


def every(browser: Any, selector: str) -> list[Any]:
    """The elements that a selector matches."""
    found: list[Any] = browser.find_elements("css selector", selector)
    return found


def requests(browser: Any) -> set[str]:
    """Every address asked for since the log was last read, `data:` aside."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = {
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    }
    return {url for url in urls if not url.startswith("data:")}


def set_width(browser: Any, width: int) -> None:
    """How wide the window is, in pixels."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def set_scheme(browser: Any, scheme: str) -> None:
    """What colours the reader likes: light or dark."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def screenshot(browser: Any, path: Path) -> None:
    """Picture the whole page."""
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode(shot["data"]))
