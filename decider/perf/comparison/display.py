"""What a person at a terminal sees of a comparison: progress, and the table of its verdicts.

Knows documents and the progress of a run; measures nothing, decides nothing.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.table import Table

from decider.perf.comparison.run import Progress

STYLES = {
    "regressed": "bold red",
    "improved": "green",
    "unchanged": "",
    "inconclusive": "yellow",
    "not comparable": "yellow",
    "failed": "bold red",
}
WIDTH = 110


class Display:
    """Shows the progress of a run on standard error: one line that changes, or one a pair.

    Args:
        most_pairs: the last planned look.

    Attributes:
        title: stands before the progress.
    """

    def __init__(self, most_pairs: int, console: Console | None = None) -> None:
        self._console = Console(stderr=True, highlight=False) if console is None else console
        self._most = most_pairs
        self._shown = 0
        self._status: Status | None = None
        self.title = ""

    def __enter__(self) -> Display:
        if self._console.is_terminal:
            self._status = self._console.status("starting the first pair")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()

    def show(self, progress: Progress) -> None:
        """Show where the run stands."""
        line = self._line(progress)
        if self._status:
            self._status.update(escape(line))
        elif progress.visits == progress.visits_planned:
            self.say(line)

    def say(self, text: str) -> None:
        """Write a line that stays."""
        self._console.print(escape(f"compare: {text}"), soft_wrap=True)

    def _line(self, progress: Progress) -> str:
        parts = [
            f"pair {progress.pair} of at most {self._most}",
            f"{progress.visits} of {progress.visits_planned} visits",
            f"{progress.decided} of {progress.cells} cells decided",
        ]
        if progress.seconds_left is not None:
            parts.append(f"at most {_duration(progress.seconds_left)} left")
        return self.title + ", ".join(parts)


def table(document: Mapping[str, Any], *, width: int = WIDTH) -> str:
    """The verdicts of a comparison, for a terminal or a log."""
    file = io.StringIO()
    console = Console(file=file, width=width, highlight=False)
    made = Table(box=None, pad_edge=False)
    for name in ("cell", "verdict", "change", "interval", "visible from", "pairs", "note"):
        made.add_column(
            name, justify="right" if name in ("change", "visible from", "pairs") else "left"
        )
    rows = [*document["cells"], *([document["control"]] if document["control"] else [])]
    for cell in rows:
        made.add_row(*[escape(text) for text in _row(cell)], style=STYLES[cell["verdict"]])
    console.print(made)
    for line in _lines(document):
        console.print(escape(line), soft_wrap=True)
    return file.getvalue().rstrip("\n")


def self_test_table(document: Mapping[str, Any]) -> str:
    """The rates of a self-test."""
    unchanged, delayed = document["unchanged"], document["delayed"]
    lines = []
    if unchanged["runs"]:
        lines.append(
            f"false alarms: {unchanged['alarms']} of {unchanged['runs']} unchanged runs "
            f"({_bounds(unchanged, document)})"
        )
    if delayed["runs"]:
        lines.append(
            f"found: a delay of {delayed['delay']:.1%} in {delayed['found']} of "
            f"{delayed['runs']} runs ({_bounds(delayed, document)})"
        )
    for name, value in document["smallest_visible"].items():
        lines.append(f"  {name}: visible from {_share(value)}")
    return "\n".join(lines)


def _row(cell: Mapping[str, Any]) -> Sequence[str]:
    interval = "-"
    if cell["low"] is not None and cell["high"] is not None:
        interval = f"{_share(cell['low'])} to {_share(cell['high'])}"
    needed = cell["pairs_needed"]
    note = (cell["reason"] or "").splitlines()[:1]
    if cell["verdict"] == "inconclusive":
        note = [f"{needed} pairs would decide" if needed else "more than 1,000 pairs to decide"]
    return (
        cell["id"],
        cell["verdict"],
        _share(cell["change"]),
        interval,
        _share(cell["smallest_visible"]),
        str(cell["pairs"]),
        *(note or [""]),
    )


def _lines(document: Mapping[str, Any]) -> list[str]:
    lines = []
    for fact in document["differs"]:
        lines.append(f"differs: {fact['name']}: {fact['base']!r} on base, {fact['head']!r} on head")
    for summary in document["summaries"]:
        if summary["geometric_mean"] is not None:
            name = summary["benchmark"] or "all cells"
            weighted = summary["weighted_mean"]
            by_traffic = "" if weighted is None else f", weighted by traffic {weighted:+.2%}"
            lines.append(f"{name}: geometric mean {summary['geometric_mean']:+.2%}{by_traffic}")
    if exact := document["exact"]:
        lines.append(
            f"exact figures: {exact['compared']:,} compared, {exact['rises']:,} rose, "
            f"{exact['falls']:,} fell"
        )
        lines += [
            f"  {change['figure']} of {change['queue']}: {change['base']:g} to {change['head']:g}"
            for change in exact["changes"][:5]
        ]
        lines += [f"  {note}" for note in exact["notes"]]
    if model := document["cost_model"]:
        lines += _model_lines(model)
    lines.append(document["outcome"]["sentence"])
    return lines


def _model_lines(model: Mapping[str, Any]) -> list[str]:
    lines = []
    for side in ("base", "head"):
        line = model[side]
        if line and line["overhead"] is not None:
            bounds = f"{_number(line['low'])} to {_number(line['high'])}"
            lines.append(f"overhead on {side}: {line['overhead']:.0f} token-units ({bounds})")
    if model["excess"] is not None:
        lines.append(
            f"plans of head's constant, {model['constant']:g}, take {model['excess']:+.2%} time "
            "against those of the overhead fitted on head"
        )
    return lines


def _bounds(part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    return f"{part['low']:.1%} to {part['high']:.1%} at {document['confidence']:.0%} confidence"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2%}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
