"""`decider report`: one self-contained HTML page of what a run measured.

Asks, reads and writes. What is on the page is `decider.perf.report`'s, which is imported when the
command runs, since it needs the packages of the `report` extra.
"""

from __future__ import annotations

from pathlib import Path

import click

from decider.files import write_text

DEFAULT_RESULTS = Path(".asv/results")
DEFAULT_PAGE = Path("report.html")
WARNED_BYTES = 3_000_000


class UnusableError(click.ClickException):
    """Something given cannot be used; nothing was written."""

    exit_code = 2


@click.command(short_help="One HTML page of what a run measured.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=DEFAULT_RESULTS,
    show_default=True,
    help="asv's results folder.",
)
@click.option("--machine", help="The result of this machine. [default: that of the newest result]")
@click.option("--commit", help="The result of this commit. [default: the newest one measured]")
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
def report(
    results: Path,
    machine: str | None,
    commit: str | None,
    baseline: str | None,
    grid: Path | None,
    out: Path,
) -> None:
    """Write one self-contained HTML page of what a run of the suite measured.

    It opens from disk and asks no other machine for anything. It gives no verdicts: with
    --baseline, exact figures are compared exactly and noisy ones are given as ratios.

    Exit status: 0 the page was written, 2 something could not be read or written.

    \b
    decider report
    decider report --commit 1a2b3c --baseline 4d5e6f --out out/report.html
    decider report --grid grid.json
    """
    try:
        import altair  # noqa: F401
        import jinja2  # noqa: F401
        import scipy  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise UnusableError(f"{error.name} is missing: pip install 'decider[report]'") from None
    try:
        _write(results, machine, commit, baseline, grid, out)
    except OSError as error:
        where = error.filename or out
        raise UnusableError(f"{where}: {error.strerror or error}") from None
    except ValueError as error:
        raise UnusableError(str(error)) from None


def _write(
    results: Path,
    machine: str | None,
    commit: str | None,
    baseline: str | None,
    grid: Path | None,
    out: Path,
) -> None:
    from decider.perf.report.page import render
    from decider.perf.report.results_folder import read_results_folder
    from decider.perf.report.summary import summary

    if out.is_dir():
        raise ValueError(f"{out}: a folder; --out names the file to write")
    folder = read_results_folder(results)
    for problem in folder.unreadable:
        click.echo(f"not read: {problem}", err=True)
    result = folder.choose(machine, commit)
    other = folder.choose(result.machine, baseline) if baseline else None
    page = render(result, other, grid, folder.unreadable)
    write_text(out, page)
    size = len(page.encode())
    click.echo(f"commit {result.commit[:8]} on {result.machine}: {summary(result).sentence}")
    click.echo(f"report: {out} ({size / 1e6:.1f} MB)")
    if size > WARNED_BYTES:
        click.echo("a page of more than 3 MB: some viewers of pull requests refuse it", err=True)
