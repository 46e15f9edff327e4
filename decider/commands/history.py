"""`decider history`: steps and drifts in what was measured over commits.

Asks, reads, shows and writes. What a change is says `decider.perf.history`, which is imported when
the command runs, since it needs scipy and asv.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from decider.files import write_text
from decider.perf.report.quantities import counted, exact, quantity

if TYPE_CHECKING:
    from decider.perf.history.findings import Finding, Search
    from decider.perf.history.series import SeriesFolder

DEFAULT_RESULTS = Path(".asv/results")
MOST_NAMED = 10
LEAST_WIDTH = 16
LOG_WIDTH = 160
FALSE_SHARE = 0.02
"""Of noisy series without a change, those in which one is found: at most, see docs/history.md."""

WORSE = 1
UNUSABLE = 2

Told = Callable[[str, int, int], None]


class UnusableError(click.ClickException):
    """Something given cannot be used; nothing was written."""

    exit_code = UNUSABLE


@click.command(short_help="Steps and drifts in what was measured over commits.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=DEFAULT_RESULTS,
    show_default=True,
    help="asv's results folder.",
)
@click.option("--machine", help="Only the results of this machine. [default: every machine]")
@click.option(
    "--benchmark",
    metavar="REGEX",
    default="",
    help="Only cells in whose name and parameters this is found. [default: every cell]",
)
@click.option(
    "--since",
    metavar="COMMIT",
    help="Only changes that may have happened after this commit. The whole series is searched.",
)
@click.option(
    "--commits",
    type=click.IntRange(min=1),
    help="Only changes that may have happened in the newest N commits measured.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=40,
    show_default=True,
    help="Most lines of the table; 0 for all.",
)
@click.option(
    "--json",
    "json_path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write every change as JSON too.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["worse", "possible", "never"]),
    default="worse",
    show_default=True,
    help="What makes the exit status 1: a confirmed change for the worse in force, one that "
    "is merely possible too, or nothing.",
)
def history(**options: Any) -> None:
    """Find where what was measured over commits changed for good, suddenly or slowly.

    Every cell is searched on its own, by machine, environment and version of its benchmark. Exact
    figures change by any difference. Of noisy ones a step is found when three commits or more are
    after it, as docs/history.md tells, with how often that is wrong.

    A change is in force if at least half of it is left at the newest commit. It is confirmed if it
    is clear beside the number of series searched: of many, some show a change by chance.

    Exit status: 0 nothing is worse, 1 something became so and still is, among the changes that were
    asked for, 2 something could not be read or written.

    \b
    decider history
    decider history --machine ci-2core --benchmark 'forward.*batch 8'
    decider history --commits 20 --json history.json
    """
    try:
        import asv  # type: ignore[import-untyped]  # noqa: F401
        import scipy  # noqa: F401
    except ImportError as error:
        raise UnusableError(
            f"{error.name} is missing: pip install 'decider[bench,report]'"
        ) from None
    try:
        status = _history(options)
    except OSError as error:
        where = error.filename or options["json_path"]
        raise UnusableError(f"{where}: {error.strerror or error}") from None
    except ValueError as error:
        raise UnusableError(str(error)) from None
    raise SystemExit(status)


def _history(options: dict[str, Any]) -> int:
    from decider.perf.history.document import to_document
    from decider.perf.history.findings import search
    from decider.perf.history.series import read_series

    if options["since"] and options["commits"]:
        raise ValueError("--since and --commits: one of them says which changes are asked for")
    with _progress() as tell:
        folder = read_series(options["results"], options["machine"], options["benchmark"], tell)
        for problem in folder.unreadable:
            click.echo(f"not read: {problem}", err=True)
        if not folder.series:
            raise ValueError(f"{options['results']}: no cell has {options['benchmark']!r} in it")
        begin = _begin(folder, options["since"], options["commits"])
        found = search(folder.series, lambda done, all_: tell("series", done, all_))
    place = {commit: number for number, commit in enumerate(folder.commits)}
    shown = [finding for finding in found.findings if place[finding.commit] >= begin]
    if options["json_path"]:
        document = to_document(folder, found, shown)
        write_text(options["json_path"], json.dumps(document, indent=1, allow_nan=False) + "\n")
    _show(folder, found, shown, options["limit"])
    fails = {
        "worse": any(finding.is_regression for finding in shown),
        "possible": any(finding.is_worse for finding in shown),
        "never": False,
    }
    return WORSE if fails[options["fail_on"]] else 0


def _begin(folder: SeriesFolder, since: str | None, count: int | None) -> int:
    """The place of the first commit whose changes are asked for."""
    if count is not None:
        return max(0, len(folder.commits) - count)
    if since is None:
        return 0
    places = [n for n, commit in enumerate(folder.commits) if commit.hash.startswith(since)]
    if len(places) != 1:
        known = ", ".join(commit.hash[:8] for commit in folder.commits[: -MOST_NAMED - 1 : -1])
        cause = "several measured commits begin so" if places else "no such commit was measured"
        raise ValueError(f"--since {since}: {cause}; the newest ones are {known}")
    return places[0] + 1


def _show(folder: SeriesFolder, found: Search, shown: Sequence[Finding], limit: int) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:  # a log: its lines may be long, and are searched
        console.width = max(console.width, LOG_WIDTH)
    lines = shown[:limit] if limit else shown
    if lines:
        console.print(_table(lines))
    if len(lines) < len(shown):
        left = len(shown) - len(lines)
        console.print(f"{counted(left, 'more change')}: --limit 0 shows all, --json writes them")
    for one in folder.breaks[:MOST_NAMED]:
        told = f"{one.machine}, {one.commit.hash[:8]}: {one.what}"
        console.print(escape(f"new series of {counted(one.cells, 'cell')} from here: {told}"))
    if len(folder.breaks) > MOST_NAMED:
        console.print(f"and {len(folder.breaks) - MOST_NAMED} more places where series begin anew")
    console.print(_summary(folder, found, shown))


def _table(findings: Sequence[Finding]) -> Table:
    several = len({finding.series.machine for finding in findings}) > 1
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in (*(["machine"] if several else []), "cell"):
        table.add_column(heading, overflow="fold", min_width=LEAST_WIDTH)
    for heading in ("change", "kind", "before", "after", "commits", "now", "evidence"):
        table.add_column(heading, justify="right" if heading == "change" else "left")
    for finding in findings:
        change, unit = finding.change, finding.series.unit
        written = exact if finding.series.exact else lambda value, unit=unit: quantity(value, unit)
        style = "red" if finding.is_regression else "" if change.worse else "green"
        table.add_row(
            *([escape(finding.series.machine)] if several else []),
            escape(finding.series.cell),
            f"{change.change:+.1%}" if math.isfinite(change.change) else "from 0",
            f"{change.kind}, {'worse' if change.worse else 'better'}",
            escape(written(change.before_value)),
            escape(written(change.after_value)),
            finding.range,
            "in force" if finding.in_force else "over",
            "confirmed" if finding.confirmed else "possible",
            style=style,
        )
    return table


def _summary(folder: SeriesFolder, found: Search, shown: Sequence[Finding]) -> str:
    confirmed = sum(finding.is_regression for finding in shown)
    possible = sum(finding.is_worse for finding in shown) - confirmed
    parts = [
        f"{counted(len(folder.commits), 'commit')}, {found.searched:,} series searched",
        f"{counted(len(shown), 'change')}: {confirmed:,} for the worse in force and confirmed, "
        f"{possible:,} possible",
    ]
    if found.noisy:
        by_chance = math.ceil(FALSE_SHARE * found.noisy)
        parts.append(f"up to {by_chance:,} of {found.noisy:,} noisy series show one by chance")
    if found.too_short:
        parts.append(f"{found.too_short:,} series too short for a change")
    if found.unmeasured:
        parts.append(f"{found.unmeasured:,} never measured")
    return "; ".join(parts)


@contextmanager
def _progress() -> Iterator[Told]:
    """A bar a kind of work on standard error, where somebody watches it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda *_: None
        return
    with Progress(console=console, transient=True) as bars:
        tasks: dict[str, Any] = {}

        def tell(what: str, done: int, count: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=count)
            bars.update(tasks[what], completed=done)

        yield tell
