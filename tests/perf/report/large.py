"""How long the page of a large suite takes: `python -m tests.perf.report.large`.

Writes a comparison and a results folder of the size that it is asked for, and runs `decider report`
over both. Prints the lines of docs/report.md. Not a test: it says how fast a machine is.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from tests.perf.report.comparisons import large
from tests.perf.report.results import benchmark, end_to_end, every_benchmark, sampled
from tests.perf.site.histories import commit_hash, write_commit

COLUMNS = 50


@click.command()
@click.option("--cells", default=2000, show_default=True)
@click.option("--commits", default=500, show_default=True)
@click.option("--pairs", default=40, show_default=True)
def main(cells: int, commits: int, pairs: int) -> None:
    """Write forwards of many shapes over commits and a comparison of the last one, and the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_comparison(folder / "comparison.json", cells, commits, pairs)
        forwards = _forwards(cells)
        for number in range(commits):
            slower = 1 + number / 1000
            suite = every_benchmark(slower) | end_to_end(slower) | forwards
            write_commit(folder / "results", number, suite)
        command = [
            *(sys.executable, "-c", "from decider.cli import main; main()", "report"),
            *("--comparison", str(folder / "comparison.json")),
            *("--results", str(folder / "results"), "--out", str(folder / "report.html")),
            *("--markdown", str(folder / "comment.md")),
        ]
        began = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - began
        click.echo(done.stdout)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        size = (folder / "report.html").stat().st_size
        click.echo(f"{cells:,} cells, {commits:,} commits, {pairs} pairs, {os.cpu_count()} CPUs:")
        click.echo(
            f"{seconds:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of processor time, "
            f"{size / 1e6:.2f} MB, memory {used.ru_maxrss / 1024:.0f} MiB"
        )


def _write_comparison(path: Path, cells: int, commits: int, pairs: int) -> None:
    document = large(cells // COLUMNS, COLUMNS, pairs)
    for side, number in (("base", commits - 2), ("head", commits - 1)):
        document[side]["commit"] = commit_hash(number)
    path.write_text(json.dumps(document), encoding="utf-8")


def _forwards(cells: int) -> dict[str, tuple[dict[str, object], dict[str, object]]]:
    axes = {"batch": range(cells // COLUMNS), "length": range(COLUMNS)}
    times = benchmark(axes, [sampled(3e-3 + 1e-6 * number) for number in range(cells)], "seconds")
    return {"forward.Forward.track_seconds": times}


if __name__ == "__main__":
    main()
