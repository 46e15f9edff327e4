"""The page of one commit: what was measured of it, what changed with it, and the reports on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from decider.perf.history.results_history import Commit, Facts, Run
from decider.perf.report.summary import moment
from decider.perf.site.changes import CellChange
from decider.perf.site.links import Links
from decider.perf.site.rendering import render_page
from decider.perf.site.reports import Report


@dataclass(frozen=True)
class CommitFacts:
    """All that the site knows of one commit.

    Attributes:
        subject: first line of its message; empty where no comparison tells it.
        changes: those that were first seen at it.
        older, newer: its neighbours.
    """

    commit: Commit
    subject: str
    runs: Sequence[Run]
    changes: Sequence[CellChange]
    reports: Sequence[Report]
    older: Commit | None
    newer: Commit | None


@dataclass(frozen=True)
class _Measured:
    """A run as the page shows it."""

    machine: str
    when: str
    environment: Facts
    lines: tuple[tuple[str, int, int, int], ...]


def commit_page(facts: CommitFacts, links: Links) -> str:
    """The text of the page."""
    return render_page(
        "commit.html",
        "../",
        facts=facts,
        measured=[_measured(run) for run in facts.runs],
        committed=moment(facts.commit.committed),
        links=links,
    )


def _measured(run: Run) -> _Measured:
    lines = tuple(
        (name, counts.get("measured", 0), counts.get("failed", 0), counts.get("skipped", 0))
        for name, counts in sorted(run.statuses.items())
    )
    times = dict.fromkeys(map(moment, run.measured or ()))
    return _Measured(run.machine, " to ".join(times) or "not recorded", run.environment, lines)
