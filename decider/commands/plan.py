"""`decider plan`: what the planner makes of a queue, and what per-bucket grouping would.

Reads row lengths, prints a plan. Knows how to ask and to show; the planning is in
`decider.batching`.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from textwrap import shorten
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from decider import costs
from decider.batching import (
    DEFAULT_MERGE_OVERHEAD_TOKENS,
    Planner,
    WasteLedger,
    explain,
    per_bucket_groups,
)
from decider.costs import Cost, LadderCost, LinearCost
from decider.grid import BucketGrid
from decider.ledger import Group
from decider.workloads import MIXES, row_lengths

SCHEMA = "decider.plan/1"
GROUPS_SHOWN = 20
LEDGER_PARTS = ("real_tokens", "length_rounding", "co_batch_padding", "empty_rows", "overhead")


@click.command(short_help="Plan a queue: groups, cost, waste ledger.")
@click.argument("rows", nargs=-1)
@click.option("--file", "path", type=click.Path(path_type=Path), help="Read row lengths from it.")
@click.option("--trace", type=click.Path(path_type=Path), help="Plan a window of this trace.")
@click.option("--trace-format", default="auto", show_default=True, help="Its format's name.")
@click.option("--start", default=0.0, show_default=True, help="Where the window begins: seconds.")
@click.option("--window", default=50.0, show_default=True, help="How long it is: milliseconds.")
@click.option("--speed", default=1.0, show_default=True, help="Compress the trace's time so often.")
@click.option("--mix", type=click.Choice(sorted(MIXES)), help="Draw the rows from this mix.")
@click.option("--size", default=32, show_default=True, help="How many rows to draw.")
@click.option("--seed", default=0, show_default=True, help="Seed of the draw.")
@click.option(
    "--cost",
    "cost_name",
    default="ladder",
    show_default=True,
    help="Cost model: linear, ladder, or a file: a cost model or a measured grid.",
)
@click.option(
    "--overhead",
    default=float(DEFAULT_MERGE_OVERHEAD_TOKENS),
    show_default=True,
    help="Fixed cost of a forward, in token-units (linear and ladder).",
)
@click.option("--max-batch", default=32, show_default=True, help="Most rows in one forward.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def plan(**options: Any) -> None:
    """Plan a queue of ROWS (token counts, in arrival order) and account for its cost.

    The rows are arguments, a file (`-` is standard input), a window of a trace, or drawn from a
    mix. The captured grid is the default one, or what DECIDER_T_BUCKETS, DECIDER_B_BUCKETS and
    DECIDER_GRAPH_TOKEN_BUDGET say.

    \b
    decider plan 60 64 190 200 210 900 1100 1150
    seq 10 50 2000 | decider plan -
    decider plan --trace AzureLLMInferenceTrace_conv.csv --window 200 --speed 30
    decider plan --mix decision --size 128 --cost linear --json
    """
    try:
        lengths = _lengths(options)
        grid = BucketGrid.from_env()
        cost = _cost(options["cost_name"], options["overhead"], grid)
        planner = Planner(grid, cost, options["max_batch"])
        report = _report(planner, lengths, cost)
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    if options["as_json"]:
        click.echo(json.dumps(report, indent=1))
    else:
        _show(report, Console())


def _lengths(options: dict[str, Any]) -> list[int]:
    sources = [name for name in ("rows", "path", "trace", "mix") if options[name]]
    if len(sources) > 1:
        raise click.UsageError(f"one source of rows at a time, not {' and '.join(sources)}")
    if options["mix"]:
        return [int(n) for n in row_lengths(options["mix"], options["size"], seed=options["seed"])]
    if options["trace"]:
        return _trace_lengths(options)
    if options["path"]:
        return _whole_numbers(_read(options["path"]).replace(",", " ").split(), options["path"])
    if options["rows"] == ("-",) or (not options["rows"] and not sys.stdin.isatty()):
        return _whole_numbers(sys.stdin.read().replace(",", " ").split(), "standard input")
    if not options["rows"]:
        raise click.UsageError("no rows: give token counts, --file, --trace, --mix, or - for input")
    return _whole_numbers(options["rows"], "arguments")


def _read(path: Path) -> str:
    return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")


def _whole_numbers(words: Any, place: Any) -> list[int]:
    lengths = []
    for row, word in enumerate(words):
        try:
            lengths.append(int(word))
        except ValueError:
            raise ValueError(f"{place}: row {row}: {word!r} is not a whole number") from None
    return lengths


def _trace_lengths(options: dict[str, Any]) -> list[int]:
    from decider.traces import read_trace

    if not (options["window"] > 0 and options["speed"] > 0):
        raise ValueError("--window and --speed must be above 0")
    window = read_trace(
        options["trace"],
        options["trace_format"],
        start=options["start"],
        seconds=options["window"] / 1_000 * options["speed"],
        say=lambda sentence: click.echo(sentence, err=True),
    )
    lengths = [row.tokens for row in window]
    if not lengths:
        raise ValueError(
            f"{options['trace']}: no row arrives in the {options['window']:g} ms from "
            f"{options['start']:g} s; widen --window, or compress time with --speed"
        )
    return lengths


def _cost(name: str, overhead: float, grid: BucketGrid) -> Cost:
    if name == "linear":
        return LinearCost(overhead)
    if name == "ladder":
        return LadderCost(overhead, grid)
    if not Path(name).exists():
        raise ValueError(f"--cost {name}: neither linear, nor ladder, nor a file")
    return costs.load(name, grid)


def _report(planner: Planner, lengths: list[int], cost: Cost) -> dict[str, Any]:
    grid = planner.grid
    groups = planner.plan(lengths)
    baseline = per_bucket_groups(lengths, grid.pad_len, grid.max_rows, planner.max_batch)
    return {
        "schema": SCHEMA,
        "rows": len(lengths),
        "grid": grid.to_dict(),
        "max_batch": planner.max_batch,
        "cost_model": repr(cost) if isinstance(cost, costs.MeasuredCost) else costs.to_dict(cost),
        "plan": _side(explain(groups, lengths, grid.pad_len, cost)),
        "per_bucket": _side(explain(baseline, lengths, grid.pad_len, cost)),
        "groups": [_group(group, lengths, planner) for group in groups],
    }


def _side(ledger: WasteLedger) -> dict[str, Any]:
    values = dataclasses.asdict(ledger)
    return {"cost": ledger.cost, "padded_tokens": ledger.padded_tokens, **values}


def _group(group: Group, lengths: list[int], planner: Planner) -> dict[str, Any]:
    T, rows = group
    shape = planner.cost.shape(len(rows), T)
    return {
        "batch": shape.batch,
        "length": shape.length,
        "cost": planner.cost.cost(len(rows), T),
        "rows": rows,
        "tokens": [lengths[row] for row in rows],
    }


def _show(report: dict[str, Any], console: Console) -> None:
    shown = report["groups"][:GROUPS_SHOWN]
    table = Table(title=f"{report['rows']} rows in {len(report['groups'])} forwards", box=None)
    for heading in ("forward", "B x T", "rows", "cost"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("row:tokens")
    for number, group in enumerate(shown):
        members = zip(group["rows"], group["tokens"], strict=True)
        table.add_row(
            str(number),
            f"{group['batch']} x {group['length']}",
            str(len(group["rows"])),
            f"{group['cost']:,.10g}",
            shorten(" ".join(f"{row}:{tokens}" for row, tokens in members), console.width - 40),
        )
    console.print(table)
    if left := len(report["groups"]) - len(shown):
        console.print(f"and {left:,} more; --json prints all")
    console.print(_ledger_table(report["plan"], report["per_bucket"]))


def _ledger_table(planned: dict[str, Any], baseline: dict[str, Any]) -> Table:
    table = Table(title="where the cost goes, in token-units", box=None)
    table.add_column("")
    for heading in ("plan", "per-bucket", "plan / per-bucket"):
        table.add_column(heading, justify="right")
    for name in (*LEDGER_PARTS, "cost", "forwards"):
        ratio = f"{planned[name] / baseline[name]:.3f}" if baseline[name] else ""
        table.add_row(
            name.replace("co_batch", "co-batch").replace("_", " "),
            f"{planned[name]:,.10g}",
            f"{baseline[name]:,.10g}",
            ratio,
            style="bold" if name == "cost" else None,
            end_section=name == "overhead",
        )
    return table
