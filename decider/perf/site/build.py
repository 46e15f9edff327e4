"""The whole site: reads the results, has every page rendered, and puts them into one folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from decider.perf.history.results_history import ResultsHistory, Run
from decider.perf.report.vega import vega_program
from decider.perf.site.benchmark_page import benchmark_address, benchmark_page
from decider.perf.site.changes import CellChange, Finder, changes_of
from decider.perf.site.commit_page import CommitFacts, commit_page
from decider.perf.site.index_page import Overview, benchmark_line, commit_line, index_page
from decider.perf.site.links import Links
from decider.perf.site.output_folder import replaced_folder
from decider.perf.site.rendering import CHARTS_FILE, write_page
from decider.perf.site.reports import Render, Report, read_reports, write_report

Progress = Callable[[str, int, int], None]
"""Is told what is being done, how many are done, and of how many."""


@dataclass(frozen=True)
class Built:
    """What was written: how much of it, and what could not be read."""

    commits: int
    benchmarks: int
    reports: int
    changes: int
    files: int
    size: int
    problems: tuple[str, ...]


def build_site(
    history: ResultsHistory,
    out: Path,
    *,
    find: Finder,
    render: Render,
    comparisons: Path | None = None,
    most_reports: int | None = None,
    repository_url: str | None = None,
    problems: Sequence[str] = (),
    progress: Progress = lambda *_: None,
) -> Built:
    """Write the site into the folder `out`, which it replaces as a whole or leaves as it is.

    Args:
        history: the results.
        out: a folder that does not exist, is empty, or holds an earlier site.
        find: searches the series of all cells for changes.
        render: makes the report's page of a comparison.
        comparisons: a folder of comparisons and of pages; None for no reports.
        most_reports: how many of the newest comparisons to make reports of; None for all.
        repository_url: a checked address of the repository's pages, for links to commits.
        problems: what could not be read of the results, a sentence each.
        progress: is told how far it is.

    Raises:
        ValueError: `out` holds something else, or there is no folder `comparisons`.
        OSError: something cannot be written.
    """
    reports, unreadable = read_reports(comparisons, most_reports)
    overview = Overview(reports=reports, problems=[*problems, *unreadable])
    links = Links((run.commit.hash for run in history.runs), repository_url)
    with replaced_folder(out) as site:
        (site / CHARTS_FILE).write_text(vega_program(), encoding="utf-8")
        _write_benchmarks(history, site, find, overview, progress)
        _write_commits(history, site, links, overview, progress)
        for done, report in enumerate(reports):
            progress("reports", done, len(reports))
            write_report(report, site, render)
        write_page(site / "index.html", index_page(overview, links))
        files = [file for file in site.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files)
    return Built(
        len(overview.commits),
        len(overview.benchmarks),
        len(reports),
        len(overview.changes),
        len(files),
        size,
        tuple(overview.problems),
    )


def _write_benchmarks(
    history: ResultsHistory, site: Path, find: Finder, overview: Overview, progress: Progress
) -> None:
    benchmarks = list(history.benchmarks())
    found = changes_of(benchmarks, find, partial(progress, "series searched"))
    for done, (benchmark, changes) in enumerate(zip(benchmarks, found, strict=True)):
        progress("benchmarks", done, len(benchmarks))
        page = site / benchmark_address(benchmark.machine, benchmark.name)
        write_page(page, benchmark_page(benchmark, changes))
        overview.benchmarks.append(benchmark_line(benchmark, changes))
        overview.changes += [change for several in changes.values() for change in several]


def _write_commits(
    history: ResultsHistory, site: Path, links: Links, overview: Overview, progress: Progress
) -> None:
    commits = history.commits
    runs: dict[str, list[Run]] = defaultdict(list)
    for run in sorted(history.runs, key=lambda run: (run.machine, run.age)):
        runs[run.commit.hash].append(run)
    reports: dict[str, list[Report]] = defaultdict(list)
    for report in overview.reports:
        for side in {report.base, report.head}:
            reports[side].append(report)
    subjects = dict(pair for report in overview.reports for pair in report.subjects)
    changes: dict[str, list[CellChange]] = defaultdict(list)
    for change in overview.changes:
        changes[change.commit.hash].append(change)
    for number, commit in enumerate(commits):
        progress("commits", number, len(commits))
        facts = CommitFacts(
            commit,
            subjects.get(commit.hash, ""),
            runs[commit.hash],
            changes[commit.hash],
            reports[commit.hash],
            commits[number - 1] if number else None,
            commits[number + 1] if number + 1 < len(commits) else None,
        )
        write_page(site / links.commit(commit.hash), commit_page(facts, links))
        overview.commits.append(commit_line(commit, facts.runs, len(facts.changes)))
