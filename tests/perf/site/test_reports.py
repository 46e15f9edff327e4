"""The reports on the site."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from decider.perf.site.reports import read_reports, write_report
from tests.perf.report.comparisons import cell, comparison
from tests.perf.report.results import COMMIT, OLDER


def _write(path: Path, **fields: Any) -> None:
    document = comparison([cell("forward/8x256", "regressed", 0.03)], **fields)
    path.write_text(json.dumps(document), encoding="utf-8")


def _render(document: Mapping[str, Any]) -> str:
    return f"<!doctype html>{document['made']}"


def test_a_comparison_becomes_a_page_and_the_newest_is_first(tmp_path: Path) -> None:
    _write(tmp_path / "a.json", made="2026-11-29T12:00:00+00:00")
    _write(tmp_path / "b.json", made="2026-11-30T12:00:00+00:00")
    reports, problems = read_reports(tmp_path)
    assert problems == []
    assert [report.source.name for report in reports] == ["b.json", "a.json"]
    assert (reports[0].base, reports[0].head) == (OLDER, COMMIT)
    assert reports[0].machine == "reference"
    (tmp_path / "site").mkdir()
    write_report(reports[0], tmp_path / "site", _render)
    written = (tmp_path / "site" / reports[0].address).read_text(encoding="utf-8")
    assert written == "<!doctype html>2026-11-30T12:00:00+00:00"


def test_a_page_is_copied_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "by hand.html").write_bytes(b"\xff as it is")
    ((report,), _) = read_reports(tmp_path)
    write_report(report, tmp_path, _render)
    assert (tmp_path / report.address).read_bytes() == b"\xff as it is"
    assert report.title == "by hand.html"


def test_what_is_no_comparison_is_told_and_left_out(tmp_path: Path) -> None:
    _write(tmp_path / "good.json")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    (tmp_path / "other.json").write_text('{"schema": "another"}', encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not looked at", encoding="utf-8")
    (tmp_path / "folder.json").mkdir()
    reports, problems = read_reports(tmp_path)
    assert [report.source.name for report in reports] == ["good.json"]
    assert [problem.partition(": ")[0] for problem in problems] == [
        str(tmp_path / name) for name in ("bad.json", "folder.json", "other.json")
    ]


def test_no_folder_given_means_no_reports_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    assert read_reports(None) == ([], [])
    with pytest.raises(ValueError, match="no folder of comparisons"):
        read_reports(tmp_path / "none")


def test_only_the_newest_are_made_where_a_number_is_given(tmp_path: Path) -> None:
    for day in range(20, 25):
        _write(tmp_path / f"{day}.json", made=f"2026-11-{day}T12:00:00+00:00")
    reports, problems = read_reports(tmp_path, most=2)
    assert [report.source.name for report in reports] == ["24.json", "23.json"]
    assert problems == [f"{tmp_path}: of 5 reports only the newest 2 are here"]
