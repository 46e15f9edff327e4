"""`python -m benchmarks.end_to_end`: the policies under closed loops, longer than asv does it.

Measures the forwards of this machine, derives the policies from them, runs interleaved rounds and
prints two tables in markdown: what each policy delivers, beside what its plans promise, and where
the time goes. What an interrupted run has measured is kept and printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.end_to_end import VIRTUAL_ROWS, figures, virtual_runs
from benchmarks.end_to_end_tables import document, tables, virtual_table
from benchmarks.machine import Machine, open_machine
from benchmarks.policies import overhead_tokens, policies
from benchmarks.probes import EngineMissingError
from benchmarks.profiles import PROFILES, SEED, Profile, chosen
from benchmarks.promises import promises
from benchmarks.rounds import Key, Runs, one_round
from benchmarks.scenarios import LOADS, MIXES, row_lengths
from benchmarks.serving import Run, token_rows

CLOSED_LOADS = ("closed 8", "closed 64")
ENOUGH_SECONDS = 2.0
LEAST_ROWS = 64
TURNS_HELP = f"rows of each client in a run, at least {LEAST_ROWS} in all (default: %(default)s)"
VIRTUAL_HELP = "only print what the policies deliver in virtual time on the frozen table"
VISITS_HELP = "most times that a shape's forward is measured (default: %(default)s)"
PROGRAM = "python -m benchmarks.end_to_end"
EXIT_REFUSED, EXIT_INTERRUPTED = 2, 130


@dataclass(frozen=True)
class Measured:
    """The whole rounds that were run, on which machine and with which rows."""

    machine: Machine
    lengths: Mapping[tuple[str, str], Sequence[int]]
    runs: Runs
    interrupted: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write and print; return the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = _parser().parse_args(arguments)
    if options.virtual:
        print(virtual_table(figures(virtual_runs(VIRTUAL_ROWS)), VIRTUAL_ROWS))
        return 0
    profile = PROFILES[options.profile] if options.profile else chosen()
    try:
        measured = asyncio.run(_measure(profile, options))
        if measured.runs:
            _report(
                measured,
                profile,
                " ".join(["python -m benchmarks.end_to_end", *arguments]),
                options.out,
            )
    except (EngineMissingError, ValueError, OSError) as error:
        print(f"end_to_end: {error}", file=sys.stderr)
        return EXIT_REFUSED
    return EXIT_INTERRUPTED if measured.interrupted else 0


def _report(measured: Measured, profile: Profile, command: str, out: Path | None) -> None:
    from decider.files import write_text

    machine, runs = measured.machine, measured.runs
    promised = promises(machine.grid, machine.milliseconds, measured.lengths)
    found = document(command, profile.name, machine, runs, promised)
    if out:
        write_text(out, json.dumps(found, indent=1, allow_nan=False) + "\n")
    print(tables(found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Run every batching policy on the real engine, in interleaved rounds.",
        epilog="exit status: 0 measured, 2 refused, 130 interrupted",
    )
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    parser.add_argument("--virtual", action="store_true", help=VIRTUAL_HELP)
    parser.add_argument("--profile", choices=sorted(PROFILES), help="default: gpu where one is")
    parser.add_argument("--rounds", type=_count, default=8, help="default: %(default)s")
    parser.add_argument(
        "--turns",
        type=_count,
        default=3,
        help="rows of each client in a run (default: %(default)s)",
    )
    parser.add_argument(
        *("--visits",),
        type=_count,
        default=8,
        help="of each forward's shape (default: %(default)s)",
    )
    parser.add_argument("--mixes", nargs="+", choices=MIXES, default=list(MIXES))
    parser.add_argument("--loads", nargs="+", choices=CLOSED_LOADS, default=list(CLOSED_LOADS))
    return parser


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is below 1")
    return value


async def _measure(profile: Profile, options: argparse.Namespace) -> Measured:
    _say(f"measuring the {len(profile.shapes)} forwards of the {profile.name} profile")
    async with open_machine(
        profile, SEED, visits=options.visits, enough_seconds=ENOUGH_SECONDS
    ) as machine:
        compared = policies(machine.grid, machine.milliseconds)
        _say(f"overhead derived: {overhead_tokens(machine.milliseconds):.0f} token-units")
        lengths = {
            (mix, load): row_lengths(mix, _rows(load, options.turns), profile.lengths[-1])
            for mix in options.mixes
            for load in options.loads
        }
        runs: Runs = {}
        interrupted = await _rounds(machine, compared, lengths, options.rounds, runs)
    return Measured(machine, lengths, runs, interrupted)


def _rows(load: str, turns: int) -> int:
    return max(LEAST_ROWS, LOADS[load].clients * turns)


async def _rounds(
    machine: Machine,
    compared: Mapping[str, Any],
    lengths: Mapping[tuple[str, str], Sequence[int]],
    most: int,
    runs: Runs,
) -> bool:
    """Add whole rounds to `runs`; true when an interrupt ended them early."""
    rows = {
        key: token_rows(of_load, machine.vocabulary_size, SEED) for key, of_load in lengths.items()
    }
    started = time.perf_counter()
    try:
        for number in range(most):
            found = await one_round(
                machine.server, compared, rows, backwards=number % 2 == 1, finished=_note
            )
            for key, run in found.items():
                runs.setdefault(key, []).append(run)
            spent = time.perf_counter() - started
            left = spent / (number + 1) * (most - number - 1)
            _say(f"round {number + 1} of {most} done, about {left / 60:.0f} min left")
    except asyncio.CancelledError:  # what an interrupt from the keyboard becomes
        _say(f"interrupted after {len(next(iter(runs.values()), []))} whole rounds")
        task = asyncio.current_task()
        while task is not None and task.cancelling():
            task.uncancel()
        return True
    return False


def _note(key: Key, run: Run) -> None:
    mix, load, policy = key
    rate = 1_000 / run.served.seconds_per_1000_rows
    _say(f"  {mix}, {load}, {policy}: {rate:.2f} rows/s")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
