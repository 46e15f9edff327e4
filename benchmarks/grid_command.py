"""The command line of `python -m benchmarks.forward`: measure the grid into a file.

Runs where only torch, transformers and numpy are installed. What an unfinished run has measured is
kept beside the file it was to write, and never replaces it.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from benchmarks.grid_file import read_document, to_text
from benchmarks.grid_run import GridRun
from benchmarks.probes import EngineMissingError, open_forward_probe
from benchmarks.profiles import PROFILES, SEED, VARIABLE, Profile, chosen
from benchmarks.progress import Progress
from benchmarks.sampling import Clock, Sampler, Timing
from decider.files import write_text

CHECKPOINT_SECONDS = 10.0

MEASURED, UNFINISHED, REFUSED, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived; it ends a run as an interrupt does."""


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks.forward",
        description="Time a host-to-host forward on every captured shape and write the cells.",
        epilog="exit status: 0 measured, 1 the budget ended first, 2 refused, 130 or 143 "
        "interrupted. What an unfinished run measured is kept for --resume.",
    )
    made.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    made.add_argument(
        "--profile",
        choices=sorted(PROFILES),
        help=f"grid, model and timing (default: {VARIABLE}, else gpu where there is one, else cpu)",
    )
    made.add_argument(
        "--resume", action="store_true", help="go on with the unfinished run of the same --out"
    )
    made.add_argument(
        "--half-width",
        type=float,
        metavar="SHARE",
        help="stop a cell when the 95%% interval of its median is within this share of it "
        f"(default: {_by_profile('half_width')})",
    )
    made.add_argument(
        "--time-cap",
        type=float,
        metavar="SECONDS",
        help="stop a cell after this much sampling all the same "
        f"(default: {_by_profile('time_cap_seconds')})",
    )
    made.add_argument(
        "--budget",
        type=float,
        metavar="SECONDS",
        default=math.inf,
        help="begin no block later than this after the start (default: no limit)",
    )
    made.add_argument(
        "--seed", type=int, default=SEED, help="of the tokens and the order (default: %(default)s)"
    )
    return made


def main(
    arguments: Sequence[str] | None = None,
    stream: TextIO | None = None,
    clock: Clock = time.perf_counter,
) -> int:
    """Measure the grid into a file; return the exit status."""
    started = clock()
    stream = sys.stderr if stream is None else stream
    options = parser().parse_args(arguments)
    environ = {VARIABLE: options.profile} if options.profile else os.environ
    with ExitStack() as stack:
        try:
            profile = chosen(environ)
            timing = timing_of(profile, options.half_width, options.time_cap)
            resumed = unfinished(options.out, resume=options.resume)
            check_writable(options.out)
            stream.write(f"forward: opening {profile.model} on {profile.device}\n")
            opened = stack.enter_context(open_forward_probe(profile, options.seed, clock))
            run = GridRun(
                profile,
                timing,
                opened,
                seed=options.seed,
                resumed=resumed,
                started=started,
                clock=clock,
            )
        except (ValueError, OSError, RuntimeError, EngineMissingError) as error:
            stream.write(f"benchmarks.forward: {error}\n")
            return REFUSED
        except KeyboardInterrupt:
            stream.write("forward: interrupted before anything was measured\n")
            return INTERRUPTED
        return measure(run, options.out, options.budget, stream, clock)


def timing_of(profile: Profile, half_width: float | None, time_cap: float | None) -> Timing:
    """The profile's timing, with what is not None instead of its own.

    Raises:
        ValueError: a value is not finite and above 0.
    """
    given = {"half_width": half_width, "time_cap_seconds": time_cap}
    return replace(
        profile.timing, **{name: value for name, value in given.items() if value is not None}
    )


def partial_path(out: Path) -> Path:
    """Where an unfinished run towards `out` is kept."""
    return out.with_name(f"{out.name}.partial")


def unfinished(out: Path, *, resume: bool) -> dict[str, Any] | None:
    """The unfinished run to go on with; None where a new one begins.

    Raises:
        ValueError: there is one and it is not to be resumed, or there is none and it is.
    """
    partial = partial_path(out)
    if not resume and partial.exists():
        raise ValueError(
            f"{partial} keeps an unfinished run: add --resume to go on with it, or delete it"
        )
    if resume and not partial.exists():
        raise ValueError(f"nothing to resume: there is no {partial}")
    return read_document(partial) if resume else None


def check_writable(out: Path) -> None:
    """Find out before a long run, not after it, that `out` cannot be written.

    Raises:
        OSError: its folder cannot be made or written, or it is a folder itself.
    """
    if out.is_dir():
        raise IsADirectoryError(f"{out} is a folder: --out names a file")
    out.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(out.parent, os.W_OK):
        raise PermissionError(f"{out.parent} cannot be written")


def measure(
    run: GridRun,
    out: Path,
    budget_seconds: float,
    stream: TextIO,
    clock: Clock = time.perf_counter,
) -> int:
    """Sample `run` and write it to `out`; return the exit status.

    Unless every cell stopped, what was measured goes to `partial_path(out)`, also when this is
    interrupted or the engine fails (its exception passes through).
    """
    progress = Progress(stream, clock)
    checkpoint = Checkpoint(run, partial_path(out), clock)

    def after_block(sampler: Sampler) -> None:
        progress(sampler)
        checkpoint.now_and_then()

    previous = signal.signal(signal.SIGTERM, _terminate)
    try:
        run.sample(budget_seconds=budget_seconds, progress=after_block)
    except BaseException as error:
        progress.end()
        checkpoint.write()
        stream.write(f"forward: {type(error).__name__}; {_kept(run, out)}\n")
        if isinstance(error, KeyboardInterrupt):
            return TERMINATED if isinstance(error, Terminated) else INTERRUPTED
        raise
    finally:
        signal.signal(signal.SIGTERM, previous)
    progress.end()
    if run.sampler.waiting:
        checkpoint.write()
        stream.write(f"forward: the budget of {budget_seconds:g} s is spent; {_kept(run, out)}\n")
        return UNFINISHED
    write_text(out, to_text(run.document()))
    partial_path(out).unlink(missing_ok=True)
    stream.write(f"forward: {summary(run)}; written to {out}\n")
    return MEASURED


def summary(run: GridRun) -> str:
    """How the cells of a run ended, in a sentence."""
    cells = list(run.sampler.samples.values())
    narrow = sum(cell.stop == "interval" for cell in cells)
    spent = run.document()["spent_seconds"]
    dropped = sum(len(cell.dropped) for cell in cells)
    return (
        f"{len(cells)} cells in {spent['total']:.0f} s, {spent['sampling']:.0f} s of it sampling; "
        f"{narrow} within the half-width, {len(cells) - narrow} at the time cap; "
        f"{dropped} blocks dropped"
    )


class Checkpoint:
    """Writes an unfinished run now and then, so that a kill costs seconds and not the run."""

    def __init__(self, run: GridRun, path: Path, clock: Clock = time.perf_counter) -> None:
        self._run = run
        self._path = path
        self._clock = clock
        self._next = clock() + CHECKPOINT_SECONDS

    def now_and_then(self) -> None:
        """Write, unless that was done a moment ago."""
        if self._clock() >= self._next:
            self.write()
            self._next = self._clock() + CHECKPOINT_SECONDS

    def write(self) -> None:
        """Write what there is; nothing where no block was measured."""
        document = self._run.document()
        if document["cells"]:
            write_text(self._path, to_text(document))


def _kept(run: GridRun, out: Path) -> str:
    measured = sum(bool(cell.blocks) for cell in run.sampler.samples.values())
    if not measured:
        return "nothing was measured yet"
    count = len(run.sampler.samples)
    return (
        f"{measured} of {count} cells have samples, kept in {partial_path(out)}: "
        "the same command with --resume goes on"
    )


def _by_profile(name: str) -> str:
    return ", ".join(
        f"{getattr(profile.timing, name)} for {profile.name}" for profile in PROFILES.values()
    )


def _terminate(*_: object) -> None:
    raise Terminated
