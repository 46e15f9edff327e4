"""Everything a GPU has to say about a checkout, in one command and within eight minutes.

`make gpu-check` runs the tests marked `gpu`, captures the whole grid of the `2b` model, measures
its forwards and writes results and a summary under `results/<machine>/`. It needs a checkout (no
git metadata), torch, transformers, numpy and pytest, and downloads nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.environment import MACHINE_VARIABLE
from benchmarks.grid_command import partial_path
from benchmarks.grid_file import read_document
from decider.files import write_text

ROOT = Path(__file__).resolve().parents[1]
BUDGET_SECONDS = 480.0
TEST_SHARE = 0.3
"""The part of the budget after which the tests are stopped, so that the grid has its time."""

GRACE_SECONDS = 15.0
"""What the grid's last block, its file and the end of its process may take."""

NO_GPU = 2
NO_TESTS = 5  # pytest's exit status

GRID_NAME = "forward.grid"
"""Not `.json`: asv takes every JSON file below `results/` for one of its own."""


@dataclass(frozen=True)
class Outcome:
    """How one part ended: its exit status and last words."""

    status: int
    text: str
    seconds: float


def gpu_name() -> str:
    """The first CUDA device's name.

    Raises:
        RuntimeError: there is none that torch can use; the message says why.
    """
    try:
        import torch
    except ModuleNotFoundError:
        raise RuntimeError("torch is not installed") from None
    if not torch.cuda.is_available():
        built = "without CUDA" if torch.version.cuda is None else f"for CUDA {torch.version.cuda}"
        raise RuntimeError(f"torch {torch.__version__}, built {built}, sees no CUDA device")
    return str(torch.cuda.get_device_name(0))


def machine_name(gpu: str) -> str:
    """The folder of results: what `DECIDER_MACHINE` names, else made from the GPU's name."""
    named = os.environ.get(MACHINE_VARIABLE) or gpu
    return re.sub(r"[^a-z0-9.]+", "-", named.lower()).strip("-")


def gpu_test_files(tests: Path) -> list[Path]:
    """The test files with a test marked `gpu`; the others may need packages that are not there."""
    files = sorted(tests.rglob("test_*.py"))
    return [file for file in files if "mark.gpu" in file.read_text(encoding="utf-8")]


def run_tests(files: Sequence[Path], limit_seconds: float) -> Outcome:
    """Run the tests marked `gpu` in `files`."""
    if not files:
        return Outcome(NO_TESTS, "no test file has a test marked gpu", 0.0)
    names = [str(file) for file in files]
    return _run(["-m", "pytest", "-m", "gpu", "-q", *names], limit_seconds)


def run_grid(out: Path, budget_seconds: float, machine: str) -> Outcome:
    """Capture and measure the grid into `out`."""
    for earlier in (out, partial_path(out)):
        earlier.unlink(missing_ok=True)
    arguments = ["-m", "benchmarks.forward", "--profile", "gpu", "--out", str(out)]
    arguments += ["--budget", f"{max(budget_seconds - GRACE_SECONDS, 1):.0f}"]
    return _run(arguments, budget_seconds, {MACHINE_VARIABLE: machine})


def summary(gpu: str, tests: Outcome, grid: Outcome, document: Mapping[str, Any] | None) -> str:
    """What was found, for people and for the folder of results."""
    lines = [
        f"GPU check on {gpu}",
        "",
        f"tests marked gpu: exit status {tests.status} after {tests.seconds:.0f} s: "
        f"{_last_line(tests.text)}",
        f"forward grid: exit status {grid.status} after {grid.seconds:.0f} s: "
        f"{_last_line(grid.text)}",
    ]
    if document is None:
        return "\n".join([*lines, "no cell was measured", ""])
    environment, spent = document["environment"], document["spent_seconds"]
    lines += [
        f"commit {environment['commit'] or 'unknown (no git metadata)'}, "
        f"torch {environment['torch']}, driver {environment['driver'] or 'unknown'}",
        f"device readings: {document['device_readings']}",
        f"start-up and capture {spent['start_up']:.0f} s, warm-up {spent['warm_up']:.0f} s, "
        f"sampling {spent['sampling']:.0f} s",
        f"engine: {json.dumps(document['engine'])}",
        f"capture: {json.dumps(document['capture'])}",
        _cells_line(document["cells"]),
        _throttle_line(document["cells"]),
    ]
    return "\n".join([*lines, ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, write and print; return 0 where all went well, 1 where not, 2 without a GPU."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_check", description=__doc__)
    parser.add_argument(
        "--results", type=Path, default=ROOT / "results", help="where the machine's folder goes"
    )
    parser.add_argument(
        "--budget", type=float, default=BUDGET_SECONDS, help="seconds for all (default: 480)"
    )
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    try:
        gpu = gpu_name()
    except RuntimeError as error:
        sys.stderr.write(f"gpu-check: {error}: nothing to check on this machine\n")
        return NO_GPU
    machine = machine_name(gpu)
    folder = options.results / machine
    folder.mkdir(parents=True, exist_ok=True)
    tests = run_tests(gpu_test_files(ROOT / "tests"), TEST_SHARE * options.budget)
    left = options.budget - (time.perf_counter() - start)
    grid = run_grid(folder / GRID_NAME, left, machine)
    text = summary(gpu, tests, grid, _document(folder / GRID_NAME))
    write_text(folder / "gpu-check.txt", text)
    sys.stdout.write(text)
    return 0 if tests.status == grid.status == 0 else 1


def _run(
    arguments: Sequence[str], limit_seconds: float, variables: Mapping[str, str] | None = None
) -> Outcome:
    """Run Python on `arguments` in the checkout, its output passed on line by line and kept."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **(variables or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    stop = threading.Timer(max(limit_seconds, 1.0), process.terminate)
    stop.start()
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            sys.stderr.write(line)
            lines.append(line)
        status = process.wait()
    finally:
        stop.cancel()
        process.kill()  # nothing is left of it after an interrupt; harmless once it has ended
    return Outcome(status, "".join(lines), time.perf_counter() - start)


def _document(grid: Path) -> dict[str, Any] | None:
    """The grid that was measured, whole or in part; None where no cell was."""
    for path in (grid, partial_path(grid)):
        if path.exists():
            return read_document(path)
    return None


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "(it said nothing)"


def _cells_line(cells: Sequence[Mapping[str, Any]]) -> str:
    stops = Counter(cell["stop"] for cell in cells)
    ended = ", ".join(f"{count} by {stop}" for stop, count in sorted(stops.items()))
    dropped = sum(cell["dropped_blocks"] for cell in cells)
    largest = max(cells, key=lambda cell: (cell["batch"] * cell["length"], cell["length"]))
    return (
        f"{len(cells)} cells, stopped {ended}; {dropped} blocks dropped; largest shape "
        f"{largest['batch']} x {largest['length']}: {largest['milliseconds']:.3f} ms"
    )


def _throttle_line(cells: Sequence[Mapping[str, Any]]) -> str:
    devices = [device for cell in cells for device in cell.get("devices", [])]
    reasons = Counter(reason for device in devices for reason in device["throttle"])
    if not devices:
        return "throttling: not known"
    found = ", ".join(f"{reason} in {count}" for reason, count in reasons.most_common())
    return f"throttling in {len(devices)} blocks: {found or 'none'}"


if __name__ == "__main__":
    sys.exit(main())
