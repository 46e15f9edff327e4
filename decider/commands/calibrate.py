"""`decider calibrate`: from measured forwards to the planner's overhead constant.

Asks, reads, shows and writes. The statistics are in `decider.perf.calibration`, which is imported
when the command runs, since it needs scipy.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from decider import costs
from decider.batching import DEFAULT_MERGE_OVERHEAD_TOKENS
from decider.workloads import MIXES

if TYPE_CHECKING:
    from decider.perf.calibration.calibration import Calibration
    from decider.perf.calibration.measurement import Measurement
    from decider.perf.calibration.queues import Stratum

DEFAULT_RESULTS = Path(".asv/results")
REFUSED = 1
UNUSABLE = 2


class UnusableError(click.ClickException):
    """Something given cannot be used; nothing was derived or written."""

    exit_code = UNUSABLE


@click.command(short_help="Derive the overhead constant from measured forwards.")
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path))
@click.option("--machine", help="asv results of this machine. [default: this one, or the only one]")
@click.option("--commit", help="asv results of this commit. [default: the newest measured]")
@click.option(
    "--baseline",
    help="What to show the drift from: another source, or the commit of an older asv result.",
)
@click.option(
    "--current",
    type=click.IntRange(min=0),
    default=DEFAULT_MERGE_OVERHEAD_TOKENS,
    show_default=True,
    help="The constant in use, which is judged.",
)
@click.option(
    "--model",
    type=click.Choice(["ladder", "linear"]),
    default="ladder",
    show_default=True,
    help="The cost model that it is used with.",
)
@click.option(
    "--max-batch",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    help="Most rows in one forward.",
)
@click.option(
    "--mix",
    "mixes",
    multiple=True,
    type=click.Choice(sorted(MIXES)),
    help="Judge on this mix; may be repeated. [default: every mix]",
)
@click.option(
    "--trace", type=click.Path(path_type=Path), help="Judge on this trace's rows instead."
)
@click.option(
    "--queues",
    type=click.IntRange(min=2),
    default=40,
    show_default=True,
    help="Queues of each mix and size.",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0, max=100),
    default=1.0,
    show_default=True,
    help="Least saving worth a change, in % of the time.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option(
    "--cost-out",
    type=click.Path(path_type=Path),
    help="Write the measured cells as a cost table for DECIDER_COST.",
)
@click.option(
    "--plots",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write charts into this folder: calibration.html and calibration.svg.",
)
@click.option(
    "--write",
    is_flag=True,
    help="Change the constant in decider/batching.py and its table in docs/SERVING.md, if the fit "
    "holds, the advice is to change it, and the tree is clean.",
)
def calibrate(**options: Any) -> None:
    """Derive the planner's overhead constant from measured forwards, and judge the one in use.

    SOURCES are grid files (`python -m benchmarks.forward --out grid.json`), asv results (a file or
    a folder; by default .asv/results), or CSV tables with the columns rows,length,milliseconds or
    num_tokens,milliseconds. Several are runs of the same commit on the same machine.

    Exit status: 0 a constant was derived, 1 it was refused, 2 something could not be read or
    written.

    \b
    decider calibrate grid.json
    decider calibrate run1.json run2.json run3.json --plots plots
    decider calibrate --commit 1a2b3c --baseline old/grid.json --json
    decider calibrate grid.json --trace AzureLLMInferenceTrace_conv.csv --cost-out cost.json
    """
    try:
        import scipy  # noqa: F401
    except ImportError:
        raise UnusableError("scipy is missing: pip install 'decider[report]'") from None
    try:
        result = _calibration(options)
        _carry_out(result, options)
    except (ValueError, OSError) as error:
        raise UnusableError(str(error)) from None
    sys.exit(REFUSED if result.refusals else 0)


def _calibration(options: dict[str, Any]) -> Calibration:
    from decider.perf.calibration.calibration import calibrate as derive
    from decider.perf.calibration.decision import queue_count
    from decider.perf.calibration.shipped_constant import checked_repository
    from decider.perf.calibration.sources import read_sources

    if options["write"]:
        if options["current"] != DEFAULT_MERGE_OVERHEAD_TOKENS:
            raise ValueError("--write replaces the shipped constant: judge that, without --current")
        checked_repository(Path.cwd())
    if not options["sources"] and not DEFAULT_RESULTS.exists():
        raise ValueError(
            f"no asv results in {DEFAULT_RESULTS}: `make bench` makes some; or name a "
            "source, such as a grid file"
        )
    sources = options["sources"] or (DEFAULT_RESULTS,)
    measurement = read_sources(sources, options["machine"], options["commit"])
    baseline = _baseline(sources[0], options)
    strata = _strata(measurement, options)
    with _progress(queue_count(strata)) as advance:
        return derive(
            measurement,
            strata,
            current=options["current"],
            model=options["model"],
            max_batch=options["max_batch"],
            margin=options["margin"] / 100,
            baseline=baseline,
            progress=advance,
        )


def _baseline(source: Path, options: dict[str, Any]) -> Measurement | None:
    from decider.perf.calibration.sources import read_source

    named = options["baseline"]
    if named is None or Path(named).exists():
        return named and read_source(Path(named), options["machine"])
    if source.is_dir():
        return read_source(source, options["machine"], named)
    raise ValueError(f"--baseline {named}: no such file, and {source} holds no results by commit")


@contextmanager
def _progress(count: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, where somebody watches it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=count, label="pricing queues", file=sys.stderr) as bar:
        yield bar.update


def _strata(measurement: Measurement, options: dict[str, Any]) -> list[Stratum]:
    from decider.perf.calibration.queues import queues_of_mixes, queues_of_trace

    if options["trace"] and options["mixes"]:
        raise ValueError("--trace and --mix: judge on one of them")
    longest = measurement.grid.length_buckets[-1]
    if options["trace"]:
        return queues_of_trace(
            options["trace"], options["queues"], longest, lambda text: click.echo(text, err=True)
        )
    return queues_of_mixes(options["mixes"] or list(MIXES), options["queues"], longest)


def _carry_out(result: Calibration, options: dict[str, Any]) -> None:
    from decider.perf.calibration.report import show, to_dict

    if options["as_json"]:
        click.echo(json.dumps(to_dict(result), indent=1, allow_nan=False))
    else:
        show(result, Console())
    if options["cost_out"]:
        if result.table is None:
            raise ValueError(f"{options['cost_out']} not written: the cells make no cost table")
        costs.save(result.table, options["cost_out"])
        click.echo(f"measured cost table: {options['cost_out']}", err=True)
    if options["plots"]:
        from decider.perf.calibration.plots import write_plots

        for path in write_plots(result, options["plots"]):
            click.echo(f"plot: {path}", err=True)
    if options["write"]:
        _write(result)


def _write(result: Calibration) -> None:
    from decider.perf.calibration.report import facts
    from decider.perf.calibration.shipped_constant import checked_repository, write_constant

    if result.refusals:
        raise ValueError(f"not written: the fit is refused ({result.refusals[0].code})")
    if result.decision is None:
        raise ValueError("not written: no plans were priced, so nothing says that it should change")
    advice = result.decision.recommendation
    if advice.action != "change":
        way_out = " with --cost-out" if advice.action == "table" else ""
        raise ValueError(f"not written: the advice is to {_in_words(advice.action)}{way_out}")
    root = checked_repository(Path.cwd())
    command = shlex.join(["decider", *sys.argv[1:]])
    for path in write_constant(root, advice.overhead, facts(result, command)):
        click.echo(f"written: {path}", err=True)


def _in_words(action: str) -> str:
    return {"keep": "keep the constant", "table": "use the measured table"}[action]
