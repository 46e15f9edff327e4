"""One arm of a paired comparison: a process that samples cells when it is told to.

`python -m benchmarks.arm` is started by `decider compare`, with one commit's `decider` in front. It
reads one JSON message a line and answers each with one. Samples when asked and not otherwise, so
that the other arm has the machine to itself meanwhile. Knows no other arm, no statistics, no files.

| message | answer |
| --- | --- |
| none, once at the start | `{"cells": [...], "environment": {...}, "graphs": ..., "constant": n}` |
| `{"do": "pin", "cpus": [1]}` | `{}` |
| `{"do": "warm_up", "cell": id}` | `{"repeats": n}` |
| `{"do": "sample", "cell": id, "repeats": n}` | `{"seconds": [...], "sm_mhz": n or null}` |
| `{"do": "stop"}`, or the end of the input | none: it ends |

An exception while a cell runs is answered with `{"error": "..."}`, and the arm lives on.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, TextIO

from benchmarks import compared, queues
from benchmarks.arm_probes import DelayedProbe, control_probe, planning_probe
from benchmarks.environment import environment
from benchmarks.probes import EngineMissingError, OpenProbe, open_forward_probe
from benchmarks.profiles import SEED, Profile, chosen
from benchmarks.sampling import Cell, Clock, Probe, sample_block, warm_up

BY_COMMIT = ("commit", "dirty", "time")
"""What the environment says of a commit and of a moment: the comparison knows that itself."""


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.arm", description=__doc__)
    made.add_argument("--profile", choices=compared.NAMES, default="quick")
    made.add_argument(
        "--delay", type=float, default=0.0, metavar="SHARE", help="slow every forward by this share"
    )
    return made


class Arm:
    """The cells of one commit, ready to be sampled.

    Attributes:
        cells: what each cell is, and why it cannot be sampled where it cannot.
    """

    def __init__(self, profile: Profile, name: str, delay: float, stack: ExitStack) -> None:
        self._profile = compared.compared_profile(profile, name)
        self._clock = work_clock(profile)
        self._probes: dict[str, tuple[Probe, Cell]] = {}
        self.cells: list[dict[str, Any]] = []
        self._opened: OpenProbe | None = None
        self._open_forwards(profile, name, delay, stack)
        self._open_plans(name)
        control = control_probe(compared.CONTROL, profile.device, self._clock)
        self._add(compared.CONTROL_CELL, control, compared.CONTROL)

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a message that names a cell or cpus.

        Raises:
            ValueError: it asks for something unknown.
        """
        match message.get("do"):
            case "pin":
                pin(message["cpus"])
                return {}
            case "warm_up":
                probe, cell = self._probe(message)
                return {"repeats": warm_up(probe, cell, self._profile.timing)}
            case "sample":
                probe, cell = self._probe(message)
                repeats = int(message["repeats"])
                seconds = sample_block(probe, cell, repeats, self._profile.timing)
                return {"seconds": seconds, "sm_mhz": self._sm_clock()}
            case other:
                raise ValueError(f"unknown message {other!r}")

    def hello(self) -> dict[str, Any]:
        """What this arm can sample, and what it runs on."""
        return {
            "cells": self.cells,
            "environment": self._environment(),
            "graphs": self._graphs(),
            "constant": shipped_constant(self._profile.device),
        }

    def _open_forwards(self, profile: Profile, name: str, delay: float, stack: ExitStack) -> None:
        shapes = compared.compared_shapes(profile, name)
        try:
            self._opened = stack.enter_context(open_forward_probe(self._profile, SEED, self._clock))
        except EngineMissingError as missing:
            for shape in shapes:
                self._skip(compared.forward_cell(profile, shape), str(missing))
            return
        forwards: Probe = self._opened.probe
        if delay:
            forwards = DelayedProbe(forwards, delay, self._clock)
        for shape in shapes:
            self._add(compared.forward_cell(profile, shape), forwards, shape)

    def _open_plans(self, name: str) -> None:
        known = {compared.plan_cell(*queue).id: queue for queue in compared.compared_queues(name)}
        try:
            plans = planning_probe(list(known.items()))
        except NotImplementedError as missing:
            for queue in known.values():
                self._skip(compared.plan_cell(*queue), str(missing))
            return
        for cell, queue in known.items():
            self._add(compared.plan_cell(*queue), plans, cell)

    def _add(self, cell: compared.ComparedCell, probe: Probe, key: Cell) -> None:
        self._probes[cell.id] = probe, key
        self.cells.append({**cell.to_dict(), "skip": None})

    def _skip(self, cell: compared.ComparedCell, reason: str) -> None:
        self.cells.append({**cell.to_dict(), "skip": reason})

    def _probe(self, message: Mapping[str, Any]) -> tuple[Probe, Cell]:
        try:
            return self._probes[message["cell"]]
        except KeyError:
            raise ValueError(f"no cell {message.get('cell')!r}") from None

    def _sm_clock(self) -> float | None:
        reading = self._opened.monitor.read() if self._opened else None
        clock = None if reading is None else reading.get("sm_mhz")
        return None if clock is None else float(clock)

    def _environment(self) -> dict[str, Any]:
        if self._opened:
            found = {**self._opened.environment, **_prefixed("engine", self._opened.engine)}
        else:
            found = environment(
                threads=self._profile.threads, allocator=None, seed=SEED, driver=None
            )
        for name in BY_COMMIT:
            del found[name]
        definition = f"cells {compared.VERSION}, queues {queues.VERSION}"
        return flat({**found, "definition": definition, "clock": self._clock.__name__})

    def _graphs(self) -> dict[str, int] | None:
        """Captured graphs and their bytes of device memory; None where nothing is captured."""
        graphs = self._opened.graph_bytes if self._opened else {}
        return {"graphs": len(graphs), "graph bytes": sum(graphs.values())} if graphs else None


def work_clock(profile: Profile) -> Clock:
    """What the arms read the time from.

    On a CPU with one thread the processor time of the process: a forward there waits for nothing,
    and what else runs on the core must count for neither arm. On a GPU the wall clock, since there
    the process mostly waits.
    """
    alone = profile.device == "cpu" and profile.threads == 1
    return time.process_time if alone else time.perf_counter


def shipped_constant(device: str) -> int | None:
    """The overhead, in token-units, that the commit's server plans with on `device`."""
    try:
        if device == "cpu":
            from decider.serve.settings import CPU_MERGE_OVERHEAD_TOKENS

            return int(CPU_MERGE_OVERHEAD_TOKENS)
    except ImportError:  # an older commit, or no web framework here: what it has for all devices
        pass
    try:
        from decider.batching import DEFAULT_MERGE_OVERHEAD_TOKENS
    except ImportError:
        return None
    return int(DEFAULT_MERGE_OVERHEAD_TOKENS)


def flat(values: Mapping[str, Any]) -> dict[str, str | float | bool | None]:
    """`values` with text, numbers and truth values only: what else there is becomes JSON text."""
    return {
        str(name): value
        if value is None or isinstance(value, (str, int, float, bool))
        else json.dumps(value, sort_keys=True, default=str)
        for name, value in values.items()
    }


def pin(cpus: Sequence[int]) -> None:
    """Keep every thread of this process on `cpus`, where the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        return
    for thread in os.listdir("/proc/self/task"):
        try:
            os.sched_setaffinity(int(thread), cpus)
        except ProcessLookupError:
            continue  # it ended meanwhile


def serve(arm: Arm, messages: TextIO, answers: TextIO) -> None:
    """Answer messages until one says stop or there are no more."""
    _write(answers, arm.hello())
    for line in messages:
        message = json.loads(line)
        if message.get("do") == "stop":
            return
        try:
            _write(answers, arm.answer(message))
        except Exception as error:
            traceback.print_exc()
            _write(answers, {"error": f"{type(error).__name__}: {error}"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the cells and answer messages on the standard streams."""
    options = parser().parse_args(arguments)
    # Libraries print; what they print must not be taken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with ExitStack() as stack:
        arm = Arm(chosen(), options.profile, options.delay, stack)
        try:
            serve(arm, sys.stdin, answers)
        except BrokenPipeError:
            return 1  # nobody is left to answer
    return 0


def _prefixed(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}.{name}": value for name, value in values.items()}


def _write(stream: TextIO, value: Mapping[str, Any]) -> None:
    stream.write(json.dumps(value) + "\n")
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
