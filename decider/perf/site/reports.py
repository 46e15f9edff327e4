"""The reports on the site: a page for each comparison in a folder.

A comparison that cannot be read is told and left out. A page that somebody has put into the folder
is copied as it is, and is as trustworthy as whoever put it there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decider.perf.comparison.document import read_comparison
from decider.perf.site.names import page_name
from decider.perf.site.rendering import write_page

FOLDER = "reports"

Render = Callable[[Mapping[str, Any]], str]
"""Makes a page of a comparison's document."""


@dataclass(frozen=True)
class Report:
    """A report on the site: what is said of it in tables.

    Attributes:
        source: the file that it is made of.
        address: its page, from the site's folder.
        base, head: hashes of the commits; empty where nobody says.
        subjects: first line of the message by hash.
    """

    source: Path
    address: str
    title: str
    machine: str = ""
    made: str = ""
    base: str = ""
    head: str = ""
    outcome: str = ""
    subjects: tuple[tuple[str, str], ...] = ()


def read_reports(folder: Path | None, most: int | None = None) -> tuple[list[Report], list[str]]:
    """The reports of a folder, the newest first, and a sentence for each file that is none.

    Args:
        folder: of comparisons and pages; None for no reports.
        most: how many of the newest to make, since each brings the charts' program; None for all.

    Raises:
        ValueError: there is no such folder.
    """
    if folder is None:
        return [], []
    if not folder.is_dir():
        raise ValueError(f"{folder}: no folder of comparisons")
    reports, problems = [], []
    for file in sorted(folder.iterdir()):
        try:
            if file.suffix == ".json":
                reports.append(_of_comparison(file, read_comparison(file)))
            elif file.suffix == ".html":
                reports.append(Report(file, _address(file), file.name))
        except ValueError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{file}: {error.strerror or error}")
    reports.sort(key=lambda report: (report.made, report.source.name), reverse=True)
    if most is not None and len(reports) > most:
        problems.append(f"{folder}: of {len(reports):,} reports only the newest {most:,} are here")
        del reports[most:]
    return reports, problems


def write_report(report: Report, site: Path, render: Render) -> None:
    """Write a report's page into the site's folder.

    Raises:
        ValueError, OSError: its source, which was read before, has become unreadable.
    """
    page = site / report.address
    if report.source.suffix == ".html":
        page.parent.mkdir(exist_ok=True)
        page.write_bytes(report.source.read_bytes())
    else:
        write_page(page, render(read_comparison(report.source)))


def _address(file: Path) -> str:
    return f"{FOLDER}/{page_name(file.stem, file.name)}"


def _of_comparison(file: Path, document: Mapping[str, Any]) -> Report:
    base, head = document["base"], document["head"]
    return Report(
        file,
        _address(file),
        f"{base['name']} to {head['name']}, {document['profile']}",
        document["machine"],
        document["made"],
        base["commit"],
        head["commit"],
        document["outcome"]["sentence"],
        tuple((side["commit"], side["subject"]) for side in (base, head)),
    )


def render_comparison(document: Mapping[str, Any], repository_url: str | None = None) -> str:
    """The report's page of a comparison: a `Render`."""
    from decider.perf.report import page

    return page.render_comparison(document, repository_url)
