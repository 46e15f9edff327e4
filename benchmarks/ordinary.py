"""The same grid done the ordinary asv way, to know what measuring it once a commit is worth.

`python -m benchmarks.ordinary` times both ways under asv on the installed `decider` and prints a
table. The ordinary way is a `time_` method whose `setup` builds the model; it is measured on a few
cells, chosen evenly over the sizes, and extrapolated to the grid. asv sees that benchmark only when
this command asks for it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.environment import package_root
from benchmarks.profiles import SEED, Profile, Shape, chosen

CELLS_VARIABLE = "DECIDER_ORDINARY_CELLS"
NOTHING = "No benchmarks selected"

if os.environ.get(CELLS_VARIABLE):

    class Ordinary:
        """A forward timed as asv's manual would have it."""

        timeout = 1_800
        params = (os.environ[CELLS_VARIABLE].split(","),)
        param_names = ("cell",)

        def setup(self, cell: str) -> None:
            from benchmarks.probes import open_forward_probe

            batch, length = (int(word) for word in cell.split("x"))
            self.cell = (batch, length)
            self.context = open_forward_probe(chosen(), SEED)
            self.probe = self.context.__enter__().probe

        def time_forward(self, *_: str) -> None:
            self.probe.sample(self.cell, repeats=1)

        def teardown(self, *_: str) -> None:
            self.context.__exit__(None, None, None)


@dataclass(frozen=True)
class Comparison:
    """Seconds of the two ways, and what they are made of.

    Attributes:
        once: one asv run of the grid measured in `setup_cache`, readers included.
        once_process: the measuring process alone.
        once_sampling: the seconds of it spent in samples.
        fixed: an asv run that measures nothing: discovery and the like.
        ordinary: one asv run of the ordinary way over `cells`.
        shapes: cells of the whole grid.
    """

    once: float
    once_process: float
    once_sampling: float
    fixed: float
    ordinary: float
    cells: int
    shapes: int

    @property
    def ordinary_grid(self) -> float:
        """The ordinary way over the whole grid: extrapolated, unless every cell was measured."""
        return self.fixed + (self.ordinary - self.fixed) * self.shapes / self.cells


def spread_cells(profile: Profile, count: int) -> list[Shape]:
    """`count` of the profile's shapes, evenly spaced in the order of their padded tokens.

    Raises:
        ValueError: fewer than 1 are asked for, or more than there are.
    """
    shapes = sorted(profile.shapes, key=lambda shape: (shape[0] * shape[1], shape))
    if not 1 <= count <= len(shapes):
        raise ValueError(f"{count} cells: the grid has 1 to {len(shapes)}")
    return [shapes[(2 * index + 1) * len(shapes) // (2 * count)] for index in range(count)]


def compare(profile: Profile, cells: Sequence[Shape], launch_method: str) -> Comparison:
    """Run both ways under asv and time them.

    Args:
        cells: those measured the ordinary way.
        launch_method: asv's, for both.

    Raises:
        RuntimeError: asv failed; the message holds the end of what it said.
    """
    run = partial(_asv_run, launch_method=launch_method)
    names = ",".join(f"{batch}x{length}" for batch, length in cells)
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder)
        _prepare(suite)
        fixed = run(suite, "^nothing-has-this-name$", {})
        grid = suite / "grid.json"
        once = run(suite, r"^forward\.Forward", {"DECIDER_BENCH_GRID": str(grid)})
        spent = json.loads(grid.read_text(encoding="utf-8"))["spent_seconds"]
        ordinary = run(suite, r"^ordinary\.Ordinary", {CELLS_VARIABLE: names})
    return Comparison(
        once=once,
        once_process=spent["total"],
        once_sampling=spent["sampling"],
        fixed=fixed,
        ordinary=ordinary,
        cells=len(cells),
        shapes=len(profile.shapes),
    )


def table(found: Comparison) -> str:
    """The comparison as a Markdown table, with what it shows in words."""
    extrapolated = "" if found.cells == found.shapes else ", extrapolated"
    outside = 1 - found.once_sampling / found.once_process
    outside_asv = 1 - found.once_sampling / found.once
    lines = [
        "| | cells | seconds |",
        "| --- | ---: | ---: |",
        f"| asv run, grid measured once in `setup_cache` | {found.shapes} | {found.once:.0f} |",
        f"| - its measuring process | {found.shapes} | {found.once_process:.0f} |",
        f"| - sampling in it | {found.shapes} | {found.once_sampling:.0f} |",
        f"| asv run that measures nothing | 0 | {found.fixed:.0f} |",
        f"| asv run, model built in `setup` | {found.cells} | {found.ordinary:.0f} |",
        f"| the same over the grid{extrapolated} | {found.shapes} | {found.ordinary_grid:.0f} |",
        "",
        f"The ordinary way takes {found.ordinary_grid / found.once:.1f} times as long. Outside "
        f"sampling: {outside:.0%} of the measuring process, {outside_asv:.0%} of the whole asv "
        "run.",
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordinary", description=__doc__)
    parser.add_argument(
        "--cells", type=int, default=4, help="cells measured the ordinary way (default: 4)"
    )
    parser.add_argument(
        "--launch-method",
        choices=("spawn", "forkserver"),
        default="spawn",
        help="how asv starts benchmark processes, in both ways (default: spawn)",
    )
    options = parser.parse_args(arguments)
    try:
        profile = chosen()
        cells = spread_cells(profile, options.cells)
        found = compare(profile, cells, options.launch_method)
    except (ValueError, RuntimeError, OSError) as error:
        sys.stderr.write(f"benchmarks.ordinary: {error}\n")
        return 2
    sys.stdout.write(table(found) + "\n")
    return 0


def _prepare(suite: Path) -> None:
    configuration: dict[str, Any] = {
        "version": 1,
        "project": "decider",
        "repo": str(package_root()),
        "branches": ["HEAD"],
        "environment_type": "existing",
        "benchmark_dir": str(Path(__file__).resolve().parent),
        "results_dir": str(suite / "results"),
        "env_dir": str(suite / "env"),
        "html_dir": str(suite / "html"),
    }
    (suite / "asv.conf.json").write_text(json.dumps(configuration), encoding="utf-8")
    _asv(suite, ["machine", "--yes", "--config", "asv.conf.json"], {})


def _asv_run(
    suite: Path, pattern: str, variables: Mapping[str, str], *, launch_method: str
) -> float:
    start = time.perf_counter()
    arguments = ["run", "--config", "asv.conf.json", "--bench", pattern, "--show-stderr"]
    arguments += ["--environment", f"existing:{sys.executable}", "--dry-run"]
    arguments += ["--launch-method", launch_method]
    _asv(suite, arguments, variables)
    return time.perf_counter() - start


def _asv(suite: Path, arguments: Sequence[str], variables: Mapping[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "asv", *arguments],
        cwd=suite,
        # a home of its own: asv keeps machine names there
        env={**os.environ, "HOME": str(suite), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0 and NOTHING not in done.stdout:
        raise RuntimeError(f"asv {' '.join(arguments)}: {done.stdout[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
