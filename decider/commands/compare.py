"""`decider compare`: is one commit slower than another, and by how much could that be told?

Asks, shows progress, writes and exits. The measuring and judging is `decider.perf.comparison`'s,
which is imported when the command runs.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from decider.perf.comparison.comparison import Plan
    from decider.perf.verdict import Design

DEFAULT_RESULTS = Path(".asv/results")
LAST = "last"
INTERRUPTED, TERMINATED = 130, 143
UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


class CompareError(click.ClickException):
    """Nothing could be compared."""

    exit_code = 2


class Duration(click.ParamType[float]):
    """Seconds, from a number with a unit: 90s, 10m, 1h; `none` for no end."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds, infinite for `none`."""
        if isinstance(value, float):
            return value
        if str(value) == "none":
            return math.inf
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", str(value))
        if not found or float(found[1]) == 0:
            self.fail(f"{value!r} is no duration: 90s, 10m, 1h or none", param, ctx)
        return float(found[1]) * UNITS[found[2]]


@click.command(short_help="Is a commit slower than another? A verdict on every cell.")
@click.argument("base", default="main")
@click.argument("head", default="HEAD")
@click.option(
    "--profile",
    type=click.Choice(["quick", "full"]),
    default="quick",
    show_default=True,
    help="Which cells: a handful, or the whole grid.",
)
@click.option(
    "--budget",
    type=Duration(),
    default="10m",
    show_default=True,
    help="Begin no pair that would end later; none for no limit.",
)
@click.option(
    "--pairs",
    type=click.IntRange(2),
    default=40,
    show_default=True,
    help="The most pairs; the last look is there.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0.001, 0.5),
    default=0.02,
    show_default=True,
    help="A cell within this share either way is unchanged.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["undecided", "failed", "regression", "never"]),
    default="undecided",
    show_default=True,
    help="What is not exit status 0.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The JSON document. [default: .asv/comparisons/BASE-HEAD-PROFILE.json]",
)
@click.option("--resume", is_flag=True, help="Go on with the unfinished run of the same --out.")
@click.option(
    "--cpu",
    "cpus",
    type=click.IntRange(0),
    multiple=True,
    help="Pin both arms to this processor; may be repeated. [default: the last one]",
)
@click.option(
    "--timeout",
    type=Duration(),
    default="2m",
    show_default=True,
    help="Longest wait for one answer of an arm.",
)
@click.option(
    "--asv-results",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT_RESULTS,
    show_default=True,
    help="Write asv result files of both sides there too.",
)
@click.option("--no-asv-results", is_flag=True, help="Write no asv result files.")
@click.option(
    "--self-test", is_flag=True, help="Compare HEAD with itself, unchanged and delayed instead."
)
@click.option(
    "--unchanged", type=click.IntRange(0), default=20, show_default=True, help="Unchanged runs."
)
@click.option(
    "--delayed", type=click.IntRange(0), default=10, show_default=True, help="Delayed runs."
)
@click.option(
    "--delay",
    type=click.FloatRange(0.001, 1.0),
    default=0.05,
    show_default=True,
    help="Share by which the delayed runs slow every forward of one arm.",
)
def compare(base: str, head: str, self_test: bool, **options: Any) -> None:
    """Measure BASE and HEAD in turn and give a verdict on every cell.

    BASE and HEAD are branches, tags or hashes; BASE may be "last": the commit this
    machine measured last, or else the parent of HEAD.

    A pair of fresh processes, one of each commit, is sampled in turn; pairs go on until every cell
    has its verdict or the budget is spent. The false-alarm rate is at most 1% for the whole run.
    docs/verdicts.md says how to read the verdicts and what to do about them.

    Exit status: 0 nothing worse, 1 a regression, 2 not decided or not measured (see --fail-on),
    130 or 143 interrupted; --resume goes on.

    \b
    decider compare main HEAD
    decider compare v1.0 HEAD --profile full --budget 1h
    decider compare --self-test --budget 3m
    """
    from decider.commands.compare_self_test import run_self_test
    from decider.perf.comparison import commits

    try:
        import jsonschema_rs  # noqa: F401
        import scipy  # noqa: F401
    except ImportError as error:
        raise CompareError(f"{error.name} is missing: pip install 'decider[report]'") from None
    try:
        repository = commits.repository_root(Path.cwd())
        if commits.has_changes(repository):
            click.echo("compare: commits are compared; uncommitted changes are not", err=True)
        with _terminable():
            if self_test:
                sys.exit(run_self_test(repository, options))
            else:
                sys.exit(_compare(repository, base, head, options))
    except OSError as error:
        raise CompareError(f"{error.filename or ''}: {error.strerror or error}") from None
    except ValueError as error:
        raise CompareError(str(error)) from None


def _compare(repository: Path, base: str, head: str, options: dict[str, Any]) -> int:
    from decider.perf.comparison import commits
    from decider.perf.comparison.comparison import compare as make
    from decider.perf.comparison.display import Display, table
    from decider.perf.comparison.document import write_document
    from decider.perf.comparison.outcome import exit_status
    from decider.perf.comparison.workshop import COMPARISONS, Workshop

    other = commits.resolve(repository, head)
    one = commits.resolve(repository, _last(repository, other.hash) if base == LAST else base)
    workshop = Workshop(repository, one, other, options["profile"])
    name = f"{one.hash[:8]}-{other.hash[:8]}-{options['profile']}.json"
    out: Path = options["out"] or repository / COMPARISONS / name
    partial = out.with_name(f"{out.name}.partial")
    if options["resume"] and not partial.exists():
        raise ValueError(f"nothing to resume: there is no {partial}")
    if partial.exists() and not options["resume"]:
        raise ValueError(
            f"{partial} keeps an unfinished run: add --resume to go on with it, or delete it"
        )
    plan = plan_of(_command(one.hash, other.hash, options), options)
    with Display(plan.design.looks[-1]) as display:
        try:
            document = make(
                workshop,
                plan,
                partial=partial,
                resume=options["resume"],
                progress=display.show,
                say=display.say,
            )
        except KeyboardInterrupt as interrupt:
            display.say(
                f"interrupted; the finished pairs are in {partial}: --resume goes on with them"
                if partial.exists()
                else "interrupted before the first pair was finished"
            )
            return status_of(interrupt)
    write_document(out, document)
    partial.unlink(missing_ok=True)
    click.echo(table(document))
    click.echo(f"comparison: {out}")
    if not options["no_asv_results"]:
        _write_asv_results(document, options["asv_results"])
    return exit_status(document, options["fail_on"])


def _last(repository: Path, head: str) -> str:
    from decider.perf.comparison.comparison import machine_name
    from decider.perf.comparison.last_measured import last_measured

    return last_measured(repository / DEFAULT_RESULTS, machine_name(), head) or f"{head}^"


def plan_of(command: str, options: dict[str, Any]) -> Plan:
    """What the options ask for.

    Raises:
        ValueError: a processor that this process may not use.
    """
    from decider.perf.comparison.comparison import Plan
    from decider.perf.comparison.pair import Limits
    from decider.perf.comparison.workshop import default_cpus

    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    unknown = sorted(set(options["cpus"]) - allowed)
    if unknown:
        raise ValueError(f"--cpu {unknown[0]}: this process may use {sorted(allowed)}")
    return Plan(
        command,
        _design(options["pairs"], options["margin"]),
        options["budget"],
        Limits(answer_seconds=options["timeout"]),
        list(options["cpus"]) or default_cpus(sorted(allowed)),
    )


def _design(pairs: int, margin: float) -> Design:
    from decider.perf.verdict import DEFAULT_DESIGN, Design

    looks = tuple(look for look in DEFAULT_DESIGN.looks if look < pairs)
    return Design(margin=margin, looks=(*looks, pairs))


def _command(base: str, head: str, options: dict[str, Any]) -> str:
    """What reproduces a comparison."""
    given = ["decider", "compare", base[:12], head[:12], *given_options(options)]
    return shlex.join(given)


def given_options(options: dict[str, Any]) -> list[str]:
    """The options that are not their default, as they stand on a command line."""
    given = ["--profile", options["profile"]]
    if options["budget"] != 600:
        budget = options["budget"]
        given += ["--budget", f"{budget:g}s" if math.isfinite(budget) else "none"]
    for name, default in (("pairs", 40), ("margin", 0.02)):
        if options[name] != default:
            given += [f"--{name}", f"{options[name]:g}"]
    return given


def _write_asv_results(document: dict[str, Any], folder: Path) -> None:
    try:
        from decider.perf.comparison.asv_files import write_asv_results
    except ImportError as error:
        click.echo(f"no asv result files: {error.name} is missing", err=True)
        return
    try:
        written = write_asv_results(document, folder)
    except (OSError, ValueError) as error:  # the verdict stands, and is written already
        click.echo(f"no asv result files: {error}", err=True)
        return
    for path in written:
        click.echo(f"asv result: {path}")


class _Terminated(KeyboardInterrupt):
    """SIGTERM arrived; it ends a run as an interrupt does."""


def status_of(interrupt: KeyboardInterrupt) -> int:
    """The exit status of an interrupted run."""
    return TERMINATED if isinstance(interrupt, _Terminated) else INTERRUPTED


@contextmanager
def _terminable() -> Iterator[None]:
    """Within it SIGTERM raises, so that arms are ended and what is measured is kept."""

    def terminate(_signal: int, _frame: object) -> None:
        raise _Terminated

    previous = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
