"""`decider load`: put a server under load and say what it delivered.

Reads options, runs a load, prints a summary. What is sent and measured is in `decider.serve`:
`traffic`, `load`, `load_report`. docs/load.md says how the numbers are made.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from rich.console import Console

from decider.commands.load_display import LoadProgress, report_table
from decider.commands.load_target import open_target
from decider.engine.engine import FLOAT32_TOLERANCE
from decider.workloads import MIXES

if TYPE_CHECKING:
    from decider.serve.answer_check import AnswerCheck
    from decider.serve.load import ClosedLoop, Load, OpenLoop, Records
    from decider.serve.load_report import LoadReport
    from decider.serve.traffic import RowName

DEFAULT_URL = "http://127.0.0.1:8000"
DEFAULT_CLIENTS = 8
CAPACITY_CLIENTS = 64
CAPACITY_WARM_UP_S, CAPACITY_LEAST_S = 2.0, 5.0

Options = dict[str, Any]


class Rate(NamedTuple):
    """Requests a second, or a share of what the server can do."""

    value: float
    of_capacity: bool


class RateType(click.ParamType[Rate]):
    """`40` is requests a second; `70%` is a share of the capacity that is measured first."""

    name = "rate"

    def convert(self, value: Any, *_: Any) -> Rate:
        if isinstance(value, Rate):
            return value
        text = str(value)
        try:
            number = float(text.removesuffix("%"))
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            self.fail(f"{text!r} is neither a number above 0, such as 40, nor a share: 70%")
        of_capacity = text.endswith("%")
        return Rate(number / 100 if of_capacity else number, of_capacity)


@click.command(short_help="Put a server under load: throughput, latency, answers checked.")
@click.option("--url", default=DEFAULT_URL, show_default=True, help="Where the server is.")
@click.option("--in-process", is_flag=True, help="Open engine and batcher here, without HTTP.")
@click.option(
    "--stand-in",
    type=click.Path(path_type=Path),
    metavar="TABLE",
    help="In process, with an engine that only takes the times of this measured table.",
)
@click.option(
    "--closed", "clients", type=click.IntRange(1), help="Closed loop: clients.  [default: 8]"
)
@click.option("--rate", type=RateType(), help="Open loop: requests a second, or 70% of capacity.")
@click.option(
    "--variation",
    default=1.0,
    show_default=True,
    help="Of the gaps in the open loop: 1 is Poisson, more is bursty.",
)
@click.option("--trace", type=click.Path(path_type=Path), help="Open loop: replay this trace.")
@click.option("--trace-format", default="auto", show_default=True, help="Its format's name.")
@click.option("--start", default=0.0, show_default=True, help="Pass over so many of its seconds.")
@click.option("--speed", default=1.0, show_default=True, help="Compress its time so often.")
@click.option(
    "--mix",
    type=click.Choice(sorted(MIXES)),
    default="short",
    show_default=True,
    help="How long rows are.",
)
@click.option(
    "--longest", default=1_024, show_default=True, help="Cut longer rows to so many tokens."
)
@click.option(
    "--distinct",
    type=click.IntRange(1),
    default=256,
    show_default=True,
    help="Different rows of a mix; each is sent again and again.",
)
@click.option(
    "--rows", type=click.IntRange(1), default=1, show_default=True, help="Rows of a request."
)
@click.option("--seconds", default=30.0, show_default=True, help="How long is measured.")
@click.option("--warm-up", default=3.0, show_default=True, help="Seconds before that.")
@click.option("--timeout", default=30.0, show_default=True, help="Seconds until a request is lost.")
@click.option(
    "--late-ms",
    default=10.0,
    show_default=True,
    help="How late a request may leave, or a tenth of the median latency if that is more.",
)
@click.option(
    "--tolerance",
    default=FLOAT32_TOLERANCE,
    show_default=True,
    help="How far answers to the same row may differ; 0.03 for bfloat16.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the report too.")
def load(**options: Any) -> None:
    """Put a server under load and check every answer.

    Closed loop: so many clients, each of which sends its next request when it has its answer. Open
    loop: requests leave when they are scheduled. Latency counts from the schedule; a run whose
    generator fell behind it is void.

    \b
    decider load                                   8 clients against a local server
    decider load --closed 64 --mix decision
    decider load --rate 70% --seconds 120          capacity is measured first
    decider load --rate 40 --variation 3           bursts
    decider load --trace conv.csv --speed 30 --in-process

    \b
    Exit codes: 0 good; 1 wrong, missing or failed answers; 2 wrong call or no server;
    3 void; 130 interrupted. Refusals for overload (503) are counted and no fault.
    """
    from decider.serve.targets import TargetError

    _check_together(options)
    try:
        report = asyncio.run(_run(options))
    except (ValueError, OSError) as error:
        raise click.UsageError(str(error)) from None
    except TargetError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    Console().print(report_table(report))
    if options["json_path"]:
        _write(report, options["json_path"])
    sys.exit(report.exit_code)


def _check_together(options: Options) -> None:
    loops = [name for name in ("clients", "rate", "trace") if options[name]]
    if len(loops) > 1:
        names = {"clients": "--closed", "rate": "--rate", "trace": "--trace"}
        raise click.UsageError(f"one loop at a time, not {' and '.join(names[n] for n in loops)}")
    if options["trace"] and options["rows"] > 1:
        raise click.UsageError("--rows: a request of a trace has one row")
    if options["stand_in"] and options["in_process"]:
        raise click.UsageError("--stand-in is in process already: leave --in-process")
    if options["json_path"] and options["json_path"].is_dir():
        raise click.UsageError(f"--json {options['json_path']}: is a folder")
    if options["warm_up"] < 0:
        raise click.BadParameter(f"{options['warm_up']} is below 0", param_hint="--warm-up")


async def _run(options: Options) -> LoadReport:
    from decider.serve.load import Load

    shown = LoadProgress()
    async with open_target(options) as (target, check):
        runner = Load(target, check, timeout=options["timeout"], progress=shown)
        try:
            capacity = await _capacity(runner, options, shown)
            rate = _requests_rate(options["rate"], capacity)
            if capacity is not None and capacity.interrupted:
                return _report(options, capacity, check, rate)
            shown.phase = "load"
            records = await runner.run(_loop(options, rate))
        finally:
            shown.end()
        return _report(options, records, check, rate)


def _requests_rate(rate: Rate | None, capacity: Records | None) -> float | None:
    if rate is None or capacity is None or capacity.interrupted:
        return None if rate is None or rate.of_capacity else rate.value
    return rate.value * _requests_per_second(capacity)


def _report(
    options: Options, records: Records, check: AnswerCheck, rate: float | None
) -> LoadReport:
    from decider.serve.load_report import load_report

    configuration = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in options.items()
        if name != "json_path"
    }
    configuration |= {"rate": rate, "share_of_capacity": None}
    if options["rate"] and options["rate"].of_capacity:
        configuration["share_of_capacity"] = options["rate"].value
    return load_report(
        records,
        check.tally(),
        configuration,
        warm_up=options["warm_up"],
        late_ms=options["late_ms"],
        own_process=not (options["in_process"] or options["stand_in"]),
    )


def _loop(options: Options, rate: float | None) -> ClosedLoop | OpenLoop:
    from decider.serve.load import ClosedLoop, OpenLoop
    from decider.serve.traffic import timed_arrivals, trace_arrivals

    seconds = options["warm_up"] + options["seconds"]
    if options["trace"]:
        arrivals = trace_arrivals(
            options["trace"],
            seconds=seconds,
            speed=options["speed"],
            trace_format=options["trace_format"],
            start=options["start"],
            longest=options["longest"],
            say=lambda sentence: click.echo(sentence, err=True),
        )
        return OpenLoop(arrivals, seconds)
    if rate is not None:
        arrivals = timed_arrivals(
            _rows(options),
            rate=rate,
            seconds=seconds,
            rows_per_request=options["rows"],
            variation=options["variation"],
            seed=options["seed"],
        )
        return OpenLoop(arrivals, seconds)
    clients = options["clients"] or DEFAULT_CLIENTS
    return ClosedLoop(clients, _rows(options), seconds, options["rows"])


def _rows(options: Options) -> Iterator[RowName]:
    from decider.serve.traffic import mixed_rows

    return mixed_rows(
        options["mix"],
        distinct=options["distinct"],
        seed=options["seed"],
        longest=options["longest"],
    )


async def _capacity(runner: Load, options: Options, shown: LoadProgress) -> Records | None:
    """A closed loop of many clients, where the rate is a share of what it achieves."""
    from decider.serve.load import ClosedLoop

    if not (options["rate"] and options["rate"].of_capacity):
        return None
    shown.phase = "capacity"
    seconds = CAPACITY_WARM_UP_S + max(CAPACITY_LEAST_S, options["seconds"] / 4)
    return await runner.run(ClosedLoop(CAPACITY_CLIENTS, _rows(options), seconds, options["rows"]))


def _requests_per_second(records: Records) -> float:
    from decider.serve.load import Outcome
    from decider.serve.targets import TargetError

    ends = [
        end
        for end, outcome in zip(records.ended, records.outcomes, strict=True)
        if outcome == Outcome.ANSWERED and CAPACITY_WARM_UP_S <= end <= records.seconds
    ]
    if not ends:
        errors = "; ".join(records.errors) or "every request takes longer than that"
        raise TargetError(f"no request was answered while capacity was measured: {errors}")
    return len(ends) / (records.seconds - CAPACITY_WARM_UP_S)


def _write(report: LoadReport, path: Path) -> None:
    from decider.files import write_text

    write_text(path, json.dumps(report.to_dict(), indent=1, allow_nan=False) + "\n")
