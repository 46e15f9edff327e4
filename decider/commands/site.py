"""`decider site`: the history of what was measured, as static pages.

Asks, reads and writes. What is on the pages is `decider.perf.site`'s, which is imported when the
command runs, since it needs the packages of the `report` extra.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import click
from rich.console import Console
from rich.status import Status

DEFAULT_RESULTS = Path(".asv/results")
DEFAULT_COMPARISONS = Path(".asv/comparisons")
DEFAULT_SITE = Path("out/site")


class UnusableError(click.ClickException):
    """Something given cannot be used; nothing was written."""

    exit_code = 2


@click.command(short_help="Static pages of what was measured over commits.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=DEFAULT_RESULTS,
    show_default=True,
    help="asv's results folder.",
)
@click.option(
    "--comparisons",
    type=click.Path(path_type=Path),
    help="A folder of comparisons, to make a report of each, and of pages, to copy as they are. "
    f"[default: {DEFAULT_COMPARISONS}, if it is there]",
)
@click.option(
    "--reports",
    "most_reports",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="Make reports of this many of the newest comparisons; each takes more than 1 MB.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=DEFAULT_SITE,
    show_default=True,
    help="The folder to write; an earlier site in it is replaced as a whole.",
)
@click.option(
    "--repository-url",
    help="Link commits to this https address, as in https://example.org/decider. "
    "[default: no links]",
)
def site(
    results: Path,
    comparisons: Path | None,
    most_reports: int,
    out: Path,
    repository_url: str | None,
) -> None:
    """Write the history site: pages by machine, benchmark and commit, and the reports.

    The pages open from disk and from below any folder of a web server, and ask no other machine
    for anything.

    Exit status: 0 the site was written, 2 something could not be read or written; then what stood
    at --out is left as it was.

    \b
    decider site
    decider site --results results --out out/site
    decider site --comparisons runs --repository-url https://example.org/decider
    """
    try:
        with _Progress() as progress:
            _write(results, comparisons, most_reports, out, repository_url, progress)
    except ModuleNotFoundError as error:
        raise UnusableError(f"{error.name} is missing: pip install 'decider[report]'") from None
    except OSError as error:
        where = error.filename or out
        raise UnusableError(f"{where}: {error.strerror or error}") from None
    except ValueError as error:
        raise UnusableError(str(error)) from None


class _Progress:
    """A line on a terminal's standard error that says how far the command is."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._status: Status | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status = self._console.status("results")
            self._status.start()
        return self

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._status:
            self._status.update(f"{stage}: {done:,} of {total:,}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._status:
            self._status.stop()


def _write(
    results: Path,
    comparisons: Path | None,
    most_reports: int,
    out: Path,
    repository_url: str | None,
    progress: _Progress,
) -> None:
    from decider.perf.history.results_reader import read_history
    from decider.perf.report.repository import checked_repository_url
    from decider.perf.report.vega import begin
    from decider.perf.site.build import build_site
    from decider.perf.site.changes import search_series
    from decider.perf.site.reports import render_comparison

    checked = checked_repository_url(repository_url) if repository_url else None
    begin()
    if comparisons is None and DEFAULT_COMPARISONS.is_dir():
        comparisons = DEFAULT_COMPARISONS
    history, problems = read_history(results, progress)
    built = build_site(
        history,
        out,
        find=search_series,
        render=partial(render_comparison, repository_url=checked),
        comparisons=comparisons,
        most_reports=most_reports,
        repository_url=checked,
        problems=problems,
        progress=progress,
    )
    for problem in built.problems:
        click.echo(f"not read: {problem}", err=True)
    click.echo(
        f"commits: {built.commits:,}    benchmarks: {built.benchmarks:,}    "
        f"reports: {built.reports:,}    changes: {built.changes:,}"
    )
    click.echo(f"site: {out / 'index.html'} ({built.files:,} files, {built.size / 1e6:.1f} MB)")
