"""How long the site of a large history takes: `python -m tests.perf.site.large`.

Prints the lines of docs/site.md. Not a test: it says how fast a machine is.
"""

from __future__ import annotations

import random
import resource
import tempfile
import time
from pathlib import Path

import click

from decider.perf.history.results_reader import read_history
from decider.perf.site.build import build_site
from decider.perf.site.changes import search_series
from decider.perf.site.reports import render_comparison
from tests.perf.report.results import benchmark
from tests.perf.site.histories import write_commit

BENCHMARKS = 20
SAMPLES = 9
NOISE = 0.02


@click.command()
@click.option("--cells", default=2000, show_default=True)
@click.option("--commits", default=500, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(cells: int, commits: int, seed: int) -> None:
    """Write results of noisy cells over commits, with a step in every cell, and build the site."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(commits):
            level = 3e-3 * (1.1 if number > 0.6 * commits else 1.0)
            content = {
                f"suite.Bench{one}.track_seconds": benchmark(
                    {"rows": range(cells // BENCHMARKS)},
                    [_cell(rng, level) for _ in range(cells // BENCHMARKS)],
                    "seconds",
                )
                for one in range(BENCHMARKS)
            }
            write_commit(folder / "results", number, content)
        began = time.perf_counter()
        history, _ = read_history(folder / "results")
        read = time.perf_counter()
        built = build_site(history, folder / "site", find=search_series, render=render_comparison)
        ended = time.perf_counter()
        largest = max((folder / "site").rglob("*.html"), key=lambda page: page.stat().st_size)
        click.echo(f"{cells:,} cells, {commits:,} commits: {built.changes:,} changes")
        click.echo(f"read {read - began:.0f} s, search and pages {ended - read:.0f} s")
        click.echo(f"{built.files:,} files, {built.size / 1e6:.1f} MB")
        click.echo(f"largest page {largest.stat().st_size / 1e6:.2f} MB")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    click.echo(f"memory of the largest process {used:.0f} MiB")


def _cell(rng: random.Random, level: float) -> dict[str, object]:
    samples = [rng.gauss(level, NOISE * level) for _ in range(SAMPLES)]
    return {"result": sorted(samples)[SAMPLES // 2], "samples": samples}


if __name__ == "__main__":
    main()
