"""The browser of the report's tests, for the pages of the site."""

from __future__ import annotations

from tests.perf.report.conftest import started_browser

__all__ = ["started_browser"]
