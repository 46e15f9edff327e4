"""What `decider load` shows: a live line while it runs, a table at the end. Knows no servers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from decider.serve.percentiles import PERCENTS

if TYPE_CHECKING:
    from decider.serve.load import Progress
    from decider.serve.load_report import LoadReport

LINE_EVERY_S = 10.0


class LoadProgress:
    """Says on standard error how far a load is: a live line, or a line now and then in a log.

    Attributes:
        phase: what runs, for the line.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.phase = "load"
        self._console = console or Console(stderr=True)
        self._live: Live | None = None
        self._next = 0.0
        self._last = 0.0

    def __call__(self, progress: Progress) -> None:
        """Show it, unless the log has a line of a moment ago."""
        text = progress_text(self.phase, progress)
        if self._console.is_terminal:
            if self._live is None:
                self._live = Live(console=self._console, transient=True, auto_refresh=False)
                self._live.start()
            self._live.update(Text(text), refresh=True)
            return
        if progress.elapsed < self._last:  # the next phase began
            self._next = 0.0
        self._last = progress.elapsed
        if progress.elapsed >= self._next:
            self._next = progress.elapsed + LINE_EVERY_S
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Clear the line, where there is one."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def progress_text(phase: str, progress: Progress) -> str:
    """How far a load is, in one line."""
    counts = {outcome.name.lower(): count for outcome, count in progress.requests.items()}
    under_way = counts.pop("cut", 0)
    done = ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
    left = progress.seconds - progress.elapsed
    ending = f"{left:.0f} s left" if left > 0 else "waiting for the last answers"
    return f"{phase}: {done or 'no answer yet'}, {under_way:,} under way, {ending}"


def report_table(report: LoadReport) -> Group:
    """The report for people."""
    table = Table(box=None, show_header=False)
    table.add_column(style="bold")
    table.add_column()
    for name, text in _lines(report):
        table.add_row(name, text)
    parts: list[Table | Text] = [table]
    parts += [Text(f"VOID: {reason}", style="bold red") for reason in report.schedule.void]
    if report.interrupted:
        parts.append(Text("interrupted: the figures are of what ran until then", style="yellow"))
    return Group(*parts)


def _lines(report: LoadReport) -> Iterator[tuple[str, str]]:
    requests = {name: count for name, count in report.requests.items() if count}
    yield "requests", ", ".join(f"{count:,} {name}" for name, count in requests.items()) or "none"
    for error, count in report.errors.items():
        yield "", f"{count:,} x {error}"
    yield "measured", f"{report.measured_seconds:.1f} s, then {report.drain_seconds:.2f} s to drain"
    if report.rows_per_second is not None:
        offered = f", offered {report.offered_rows_per_second:,.2f}"
        yield "rows a second", f"{report.rows_per_second:,.2f}{offered}"
        yield from _latency_lines(report)
    schedule = report.schedule
    yield (
        "schedule",
        f"99% of requests left within {schedule.lag_p99_seconds * 1000:.2f} ms of it, the latest "
        f"{schedule.lag_worst_seconds * 1000:.2f} ms after; {schedule.allowed_seconds * 1000:.3g} "
        "ms are allowed",
    )
    answers = report.answers
    found = f"{answers.right:,} right, {answers.wrong:,} wrong"
    if answers.unverified:
        found += f", {answers.unverified:,} of rows answered only once and so not verified"
    if answers.alike:
        found += f"; {answers.alike:,} rows have answers like another's: a swap would not be seen"
    yield "answers", found
    for example in answers.examples:
        yield "", example


def _latency_lines(report: LoadReport) -> Iterator[tuple[str, str]]:
    for found in report.latencies:
        low, high = (1000 * bound for bound in found.interval)
        yield (
            f"p{found.percent:g}",
            f"{found.value * 1000:,.1f} ms, 95% interval {low:,.1f} to {high:,.1f}",
        )
    given = {found.percent for found in report.latencies}
    if missing := [f"p{percent:g}" for percent in PERCENTS if percent not in given]:
        yield "too few for", f"{', '.join(missing)}: measure longer"
