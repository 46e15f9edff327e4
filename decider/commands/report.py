"""`decider report`: one self-contained HTML page, and the comment on a pull request.

Asks, reads and writes. What is on them is `decider.perf.report`'s, which is imported when the
command runs, since it needs the packages of the `report` extra.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from decider.files import write_text

if TYPE_CHECKING:
    from decider.perf.report.result_file import Result
    from decider.perf.report.results_folder import ResultsFolder

DEFAULT_RESULTS = Path(".asv/results")
DEFAULT_PAGE = Path("report.html")
WARNED_BYTES = 3_000_000

Document = Mapping[str, Any]


class UnusableError(click.ClickException):
    """Something given cannot be used; nothing was written."""

    exit_code = 2


@dataclass(frozen=True)
class _Request:
    """What was asked for. `results` is None where the default folder may be missing."""

    comparison: Path | None
    results: Path | None
    machine: str | None
    commit: str | None
    baseline: str | None
    grid: Path | None
    out: Path
    markdown: Path | None
    report_url: str | None
    repository_url: str | None


@click.command(short_help="One HTML page of what was measured.")
@click.option(
    "--comparison",
    type=click.Path(path_type=Path),
    help="What `decider compare` wrote: its verdicts come first.",
)
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    help=f"asv's results folder.  [default: {DEFAULT_RESULTS}; with --comparison only if it holds "
    "head's commit]",
)
@click.option("--machine", help="The result of this machine.  [default: that of the newest result]")
@click.option(
    "--commit",
    help="The result of this commit.  [default: the newest one measured; head's with --comparison]",
)
@click.option("--baseline", help="Show the plain differences from this commit, same machine.")
@click.option(
    "--grid",
    type=click.Path(path_type=Path),
    help="Show the forwards of this grid file too, and fit the cost model to them.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=DEFAULT_PAGE,
    show_default=True,
    help="Where to write the page.",
)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path),
    help="Write the comment on a pull request here too; with --comparison.",
)
@click.option("--report-url", help="Where the page will be, for the comment to link to it.")
@click.option(
    "--repository-url",
    help="Link commits to this https address, as in https://example.org/decider.  "
    "[default: no links]",
)
def report(**asked: Any) -> None:
    """Write one self-contained HTML page of a comparison, of a run of the suite, or of both.

    It opens from disk and asks no other machine for anything. Verdicts come from a comparison;
    without one, --baseline compares exact figures exactly and gives noisy ones as ratios.

    Exit status: 0 what was asked for was written, whatever the verdicts are; 2 something could not
    be read or written.

    \b
    decider report
    decider report --comparison comparison.json --markdown comment.md
    decider report --commit 1a2b3c --baseline 4d5e6f --out out/report.html
    decider report --grid grid.json
    """
    request = _Request(**asked)
    try:
        with _without_collection():
            _write(request)
    except ModuleNotFoundError as error:
        raise UnusableError(f"{error.name} is missing: pip install 'decider[report]'") from None
    except OSError as error:
        where = error.filename or request.out
        raise UnusableError(f"{where}: {error.strerror or error}") from None
    except ValueError as error:
        raise UnusableError(str(error)) from None


@contextmanager
def _without_collection() -> Iterator[None]:
    """Years of results are millions of objects, and none of them is garbage before the end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # or the end of the program looks through all of them for nothing
        if enabled:
            gc.enable()


def _write(request: _Request) -> None:
    """Make everything that was asked for, and only then write it."""
    from decider.perf.comparison.document import read_comparison
    from decider.perf.report.page import render
    from decider.perf.report.repository import checked_repository_url
    from decider.perf.report.vega import begin

    _check(request)
    url = request.repository_url and checked_repository_url(request.repository_url)
    begin()
    comparison = read_comparison(request.comparison) if request.comparison else None
    comment = _comment(request, comparison)
    folder = _folder(request, comparison)
    result, other = _chosen(request, comparison, folder) if folder else (None, None)
    problems = folder.unreadable if folder else ()
    for problem in problems:
        click.echo(f"not read: {problem}", err=True)
    page = render(
        result,
        other,
        request.grid,
        problems,
        comparison=comparison,
        results=folder.results if folder and result else (),
        repository_url=url,
    )
    write_text(request.out, page)
    if request.markdown and comment is not None:
        write_text(request.markdown, comment)
    _tell(request, comparison, result, len(page.encode()))


def _check(request: _Request) -> None:
    for name, path in (("--out", request.out), ("--markdown", request.markdown)):
        if path is not None and path.is_dir():
            raise ValueError(f"{path}: a folder; {name} names the file to write")
    if request.markdown and not request.comparison:
        raise ValueError("--markdown is the comment on a comparison: name one by --comparison")
    if request.report_url and not request.markdown:
        raise ValueError("--report-url is for the comment: name its file by --markdown")
    if request.markdown and request.markdown.resolve() == request.out.resolve():
        raise ValueError(f"{request.out}: --out and --markdown name the same file")


def _comment(request: _Request, comparison: Document | None) -> str | None:
    from decider.perf.report.comment import comment

    if request.markdown is None or comparison is None:
        return None
    return comment(comparison, request.report_url)


def _folder(request: _Request, comparison: Document | None) -> ResultsFolder | None:
    """The results folder; None beside a comparison where nobody asked for a result and the default
    folder has none."""
    from decider.perf.report.history import FIGURES
    from decider.perf.report.results_folder import read_results_folder

    try:
        return read_results_folder(request.results or DEFAULT_RESULTS, only=FIGURES)
    except ValueError:
        if comparison is None or _asks_for_result(request):
            raise
        return None


def _asks_for_result(request: _Request) -> bool:
    return any((request.results, request.machine, request.commit, request.baseline, request.grid))


def _chosen(
    request: _Request, comparison: Document | None, folder: ResultsFolder
) -> tuple[Result | None, Result | None]:
    """The result to show and its baseline, both whole."""
    commit, machine = request.commit, request.machine
    if comparison is not None and commit is None:
        commit = comparison["head"]["commit"]
        if not _asks_for_result(request):
            machine = comparison["machine"]
    try:
        result = folder.whole(folder.choose(machine, commit))
    except ValueError:
        if comparison is None or _asks_for_result(request):
            raise
        return None, None
    if request.baseline:
        return result, folder.whole(folder.choose(result.machine, request.baseline))
    if comparison is not None and comparison["base"]["commit"] != result.commit:
        known = [r for r in folder.results if r.machine == result.machine]
        if any(r.commit == comparison["base"]["commit"] for r in known):
            base = folder.choose(result.machine, comparison["base"]["commit"])
            return result, folder.whole(base)
    return result, None


def _tell(request: _Request, comparison: Document | None, result: Result | None, size: int) -> None:
    from decider.perf.report.compared.headline import headline
    from decider.perf.report.summary import summary

    if comparison is not None:
        found = headline(comparison)
        click.echo(_line(found.line + (f": {found.void}" if found.void else "")))
    if result is not None:
        said = summary(result).sentence
        click.echo(f"commit {result.commit[:8]} on {_line(result.machine)}: {said}")
    elif comparison is not None:
        click.echo("no result of asv at head's commit: the page is of the comparison alone")
    click.echo(f"report: {request.out} ({size / 1e6:.1f} MB)")
    if request.markdown:
        click.echo(f"comment: {request.markdown}")
    if size > WARNED_BYTES:
        click.echo("a page of more than 3 MB: some viewers of pull requests refuse it", err=True)


def _line(text: str) -> str:
    """A stranger's text as one line that a terminal only shows."""
    from decider.perf.report.markdown import plain

    return plain(text, 300)
