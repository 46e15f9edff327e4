"""Real forwards over the grid: the asv benchmark, and `python -m benchmarks.forward` without asv.

asv measures the whole grid once a commit, in `setup_cache`, with the model loaded once; the
`track_` methods only read a cell of it and load neither torch nor `decider`. Which grid it is,
`profiles` says; how it is sampled, `sampling`; the command line is `grid_command`'s.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.profiles import SEED, chosen

GRID_VARIABLE = "DECIDER_BENCH_GRID"
STARTED = time.perf_counter()

if __name__ == "__main__":  # before the lines below: they are asv's and read the environment
    from benchmarks.grid_command import main

    sys.exit(main())

PROFILE = chosen()

Results = dict[str, Any]


def setup_cache() -> Results:
    """Measure the grid of this commit: block medians, in seconds, by (batch, length).

    `DECIDER_BENCH_GRID` names a file that the whole document is written to besides.
    A block, not a sample, becomes a sample of asv: those of one block are not independent. A commit
    without an engine gives the reason to skip it instead.
    """
    from benchmarks.grid_file import to_text
    from benchmarks.grid_run import GridRun
    from benchmarks.probes import EngineMissingError, open_forward_probe
    from decider.files import write_text

    try:
        with open_forward_probe(PROFILE, SEED) as opened:
            run = GridRun(PROFILE, PROFILE.timing, opened, seed=SEED, started=STARTED)
            run.sample()
            if file := os.environ.get(GRID_VARIABLE):
                write_text(file, to_text(run.document()))
            samples = run.sampler.samples.values()
            return {"skip": None, "cells": {cell.cell: cell.block_medians() for cell in samples}}
    except EngineMissingError as missing:
        return {"skip": str(missing), "cells": {}}


setup_cache.timeout = 900  # type: ignore[attr-defined]


class Forward:
    """One host-to-host forward on every captured shape, and what a token costs over all of them."""

    version = "1"
    params = (list(PROFILE.batches), list(PROFILE.lengths))
    param_names = ("batch", "length")

    def setup(self, results: Results, *cell: int) -> None:
        """Skip what cannot be measured: a commit without an engine, a shape not captured."""
        if results["skip"]:
            raise NotImplementedError(results["skip"])
        if cell and cell not in PROFILE.shapes:
            raise NotImplementedError(f"shape {cell} is over the token budget: not captured")

    def track_seconds(self, results: Results, batch: int, length: int) -> dict[str, Any]:
        return {"samples": results["cells"][batch, length], "number": 1}

    def track_microseconds_per_padded_token(self, results: Results) -> float:
        """Every captured shape run once: time over padded tokens."""
        return microseconds_per_token(results, lambda batch, length: batch * length)

    def track_microseconds_per_real_token(self, results: Results) -> float:
        """The same over real tokens, as `Profile.mean_real_tokens` assumes them."""
        return microseconds_per_token(results, PROFILE.mean_real_tokens)

    track_seconds.unit = "seconds"  # type: ignore[attr-defined]
    for _method in (track_microseconds_per_padded_token, track_microseconds_per_real_token):
        _method.unit = "microseconds"  # type: ignore[attr-defined]
        # One reader each: a value per cell would start a process per cell, and is a multiple of
        # the cell's seconds anyway.
        _method.params = ()  # type: ignore[attr-defined]
        _method.param_names = ()  # type: ignore[attr-defined]
    del _method


def microseconds_per_token(results: Results, tokens: Callable[[int, int], float]) -> float:
    """Sum of the cells' medians over the sum of their tokens.

    Args:
        tokens: those of a forward of (batch, length).
    """
    seconds: float = sum(median(results["cells"][shape]) for shape in PROFILE.shapes)
    return 1e6 * seconds / sum(tokens(*shape) for shape in PROFILE.shapes)
