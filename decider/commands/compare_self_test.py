"""`decider compare --self-test`: a commit against itself, unchanged and delayed, many times.

Runs the comparisons, shows them and keeps the record after each one.
"""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from decider.commands.compare import given_options, plan_of, status_of
from decider.perf.comparison import commits
from decider.perf.comparison.comparison import compare, machine_name
from decider.perf.comparison.display import Display, self_test_table
from decider.perf.comparison.document import write_document
from decider.perf.comparison.self_test import run_record, self_test_document, visible
from decider.perf.comparison.workshop import SELF_TESTS, Workshop

DEFAULTS = {"unchanged": 20, "delayed": 10, "delay": 0.05}


def run_self_test(repository: Path, options: dict[str, Any]) -> int:
    """Make the comparisons that `options` ask for; return the exit status.

    The record is written after each one, so that an interrupt loses only the one it stops.

    Raises:
        ValueError: no run is asked for, or HEAD cannot be measured.
        OSError: the record cannot be written.
    """
    # In turn, so that an interrupted self-test says something of both kinds.
    delays = _in_turn(options["unchanged"], options["delayed"], options["delay"])
    if not delays:
        raise ValueError("--unchanged 0 --delayed 0 leaves nothing to do")
    commit = commits.resolve(repository, "HEAD")
    workshop = Workshop(repository, commit, commit, options["profile"])
    workshop.prepare()
    figures = workshop.exact_figures("head")  # the same on both sides, and in every run
    plan = plan_of(_command(options), options)
    record = _Record(options, commit.hash, plan.command, repository)
    status = 0
    with Display(plan.design.looks[-1]) as display:
        for number, delay in enumerate(delays, start=1):
            display.title = f"run {number} of {len(delays)}, delay {delay:.0%}: "
            try:
                document = compare(
                    replace(workshop, delay=delay),
                    plan,
                    exact={"base": figures, "head": figures},
                    progress=display.show,
                    say=display.say,
                )
            except KeyboardInterrupt as interrupt:
                status = status_of(interrupt)
                break
            display.say(f"run {number}, {record.add(document, delay)}")
    if record.runs:
        click.echo(self_test_table(record.document()))
        click.echo(f"self-test: {record.path}")
    return status


class _Record:
    """The runs so far, and the file they are kept in."""

    def __init__(
        self, options: dict[str, Any], commit: str, command: str, repository: Path
    ) -> None:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        name = f"{machine_name()}-{stamp}.json"
        self.path: Path = options["out"] or repository / SELF_TESTS / name
        self.runs: list[dict[str, Any]] = []
        self._smallest: list[dict[str, float | None]] = []
        self._options, self._commit, self._command = options, commit, command

    def add(self, document: dict[str, Any], delay: float) -> str:
        """Keep a run; return what to say of it."""
        run = run_record(document, delay)
        self.runs.append(run)
        if not delay:
            self._smallest.append(visible(document))
        write_document(self.path, self.document())
        moved = ", ".join(run["regressed"] + run["improved"]) or "nothing"
        return f"delay {delay:.0%}: {run['pairs']} pairs, {run['seconds']:.0f} s, moved: {moved}"

    def document(self) -> dict[str, Any]:
        """The document of the runs so far."""
        return self_test_document(
            self.runs,
            self._smallest,
            machine=machine_name(),
            commit=self._commit,
            profile=self._options["profile"],
            command=self._command,
            delay=self._options["delay"],
        )


def _in_turn(unchanged: int, delayed: int, delay: float) -> list[float]:
    """The delay of each run: the two kinds spread evenly over the whole."""
    places = [((number + 0.5) / unchanged, 0.0) for number in range(unchanged)]
    places += [((number + 0.5) / delayed, delay) for number in range(delayed)]
    return [value for _, value in sorted(places)]


def _command(options: dict[str, Any]) -> str:
    given = ["decider", "compare", "--self-test", *given_options(options)]
    for name, default in DEFAULTS.items():
        if options[name] != default:
            given += [f"--{name}", f"{options[name]:g}"]
    return shlex.join(given)
