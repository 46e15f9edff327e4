"""The whole calibration of one measurement: fit, goodness, refusals, drift and decision.

Puts the parts together; reads no files and prints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from decider.batching import DEFAULT_MERGE_OVERHEAD_TOKENS
from decider.costs import MeasuredCost
from decider.grid import Shape
from decider.perf.calibration.decision import MARGIN, Decision, Model, Setting, decide
from decider.perf.calibration.fit import (
    LEVEL,
    Interval,
    Line,
    fit_line,
    overhead_interval,
    run_overheads,
)
from decider.perf.calibration.goodness import Goodness, goodness
from decider.perf.calibration.measurement import Measurement, difference
from decider.perf.calibration.queues import Stratum
from decider.perf.calibration.refusals import (
    Refusal,
    refusals_of_fit,
    refusals_of_measurement,
    refusals_of_sizes,
)
from decider.perf.calibration.replication import Floats, Replicates, replicates, smooth_median

SEED = 20_250_101
HOLES_NAMED = 6
MAX_BATCH = 32


@dataclass(frozen=True)
class Fit:
    """The line through some of the cells, with the interval of its overhead."""

    cells: int
    line: Line
    interval: Interval


@dataclass(frozen=True)
class Drift:
    """How the overhead and its parts moved from a baseline to this measurement.

    Attributes:
        baseline: where the baseline came from.
        before: its overhead.
        ratio, low, high: the overhead now over the one before, with its interval.
        fixed, per_token: the same ratio of the line's two coefficients.
        differences: environment fields in which the two differ: before, now.
    """

    baseline: str
    before: float
    ratio: float
    low: float
    high: float
    fixed: float
    per_token: float
    differences: Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True)
class Calibration:
    """What a measurement says about the overhead constant.

    Attributes:
        measurement: the cells.
        refusals: why no constant follows; empty where one does.
        whole, single_rows: the fits to the whole grid and to its single-row ladder; None where
            there are too few sizes for a line.
        run_overheads: the overhead of each run by itself.
        goodness: how well the line fits; None where there is none.
        table: the measured cells as a cost model; None where the measurement is refused.
        medians: milliseconds by shape.
        notes: what else a reader must know.
        decision: None where the cells cannot price plans; a note says why.
        drift: None without a baseline.
    """

    measurement: Measurement
    refusals: tuple[Refusal, ...]
    whole: Fit | None = None
    single_rows: Fit | None = None
    run_overheads: tuple[float, ...] = ()
    goodness: Goodness | None = None
    table: MeasuredCost | None = None
    medians: Mapping[Shape, float] | None = None
    notes: tuple[str, ...] = ()
    decision: Decision | None = None
    drift: Drift | None = None

    @property
    def derived(self) -> int | None:
        """The derived constant in whole token-units; None where the fit was refused."""
        if self.refusals or self.whole is None:
            return None
        return round(self.whole.line.overhead)


def calibrate(
    measurement: Measurement,
    strata: Sequence[Stratum],
    *,
    current: int = DEFAULT_MERGE_OVERHEAD_TOKENS,
    model: Model = "ladder",
    max_batch: int = MAX_BATCH,
    margin: float = MARGIN,
    baseline: Measurement | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Calibration:
    """Derive the overhead constant from measured cells and judge it.

    Args:
        measurement: the cells.
        strata: held-out queues to judge on; empty to derive only.
        current: the constant in use.
        model: the cost model it is used with.
        max_batch: the server's own cap on the rows of a forward.
        margin: the least saving worth a change, as a share of the time.
        baseline: an older measurement, to show the drift since.
        progress: called with the number of queues priced.

    Raises:
        ValueError: a constant below 0, or a baseline whose times cannot be used.
    """
    notes = list(_notes(measurement))
    if spoilt := refusals_of_measurement(measurement):
        return Calibration(measurement, tuple(spoilt), notes=tuple(notes))
    random = np.random.default_rng(SEED)
    samples = replicates(measurement)
    refused = refusals_of_sizes(measurement)
    whole = single_rows = well = drift = decision = None
    if len(set(samples.tokens)) > 1:
        well = goodness(samples)
        whole = _fit(samples, random, scattered=well.misfit)
        single_rows = _ladder_fit(measurement, random)
        refused += refusals_of_fit(whole.line, whole.interval)
        drift = _drift(measurement, whole, baseline, random) if baseline else None
    table = _table(samples, measurement, notes)
    if table and strata and len(measurement.grid.batch_buckets) > 1:
        derived = None if refused or whole is None else round(whole.line.overhead)
        setting = Setting(measurement.grid, max_batch, table, _halves(samples, measurement))
        decision = decide(
            setting,
            strata,
            current,
            derived,
            model,
            margin=margin,
            random=random,
            progress=progress,
        )
    return Calibration(
        measurement,
        tuple(refused),
        whole,
        single_rows,
        tuple(run_overheads(samples).tolist()) if whole else (),
        well,
        table,
        dict(zip(samples.shapes, samples.medians.tolist(), strict=True)),
        tuple(notes),
        decision,
        drift,
    )


def _fit(samples: Replicates, random: np.random.Generator, *, scattered: bool) -> Fit:
    return Fit(
        len(samples.shapes),
        fit_line(samples.tokens, samples.medians),
        overhead_interval(samples, random, scattered=scattered),
    )


def _ladder_fit(measurement: Measurement, random: np.random.Generator) -> Fit | None:
    single_rows = measurement.single_rows()
    if len(single_rows.cells) < 3:
        return None
    samples = replicates(single_rows)
    return _fit(samples, random, scattered=goodness(samples).misfit)


def _drift(
    measurement: Measurement, whole: Fit, baseline: Measurement, random: np.random.Generator
) -> Drift:
    spoilt = [*refusals_of_measurement(baseline), *refusals_of_sizes(baseline)]
    if spoilt:
        raise ValueError(f"baseline {baseline.source}: {spoilt[0].message}; {spoilt[0].cure}")
    samples = replicates(baseline)
    before = _fit(samples, random, scattered=goodness(samples).misfit)
    if before.line.fixed <= 0 or before.line.per_token <= 0:
        raise ValueError(f"baseline {baseline.source}: its line lies on its bound")
    low, high = _ratio_interval(whole.interval.draws, before.interval.draws, random)
    return Drift(
        baseline.source,
        before.line.overhead,
        whole.line.overhead / before.line.overhead,
        low,
        high,
        whole.line.fixed / before.line.fixed,
        whole.line.per_token / before.line.per_token,
        difference(baseline, measurement),
    )


def _ratio_interval(
    now: Floats, before: Floats, random: np.random.Generator
) -> tuple[float, float]:
    """The interval of the ratio of two bootstrapped overheads; a draw of 0 before is no bound."""
    before = random.permutation(before)
    known = (before > 0) & np.isfinite(now)
    ratios = np.divide(now, before, out=np.full_like(now, np.inf), where=known)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def _table(samples: Replicates, measurement: Measurement, notes: list[str]) -> MeasuredCost | None:
    """The cells as a cost model; None, with a note, where they cannot price the grid's plans."""
    cells: dict[tuple[int, int], float] = dict(
        zip(samples.shapes, samples.medians.tolist(), strict=True)
    )
    if len(measurement.grid.batch_buckets) == 1:
        notes.append("no plans are priced: with one batch bucket there is nothing to merge")
    try:
        return MeasuredCost(cells, measurement.grid, origin(measurement))
    except ValueError as error:
        notes.append(f"no plans are priced: {error}")
        return None


def _halves(
    samples: Replicates, measurement: Measurement
) -> tuple[MeasuredCost, MeasuredCost] | None:
    """Tables of every other unit: plans from one can be priced with cells they never saw."""
    if any(len(units) < 2 for units in samples.units):
        return None
    tables = [
        MeasuredCost(
            {
                shape: smooth_median([ms for unit in units[first::2] for ms in unit])
                for shape, units in zip(samples.shapes, samples.units, strict=True)
            },
            measurement.grid,
        )
        for first in (0, 1)
    ]
    return tables[0], tables[1]


def origin(measurement: Measurement) -> str:
    """Where the cells come from, in one line: model, machine, torch, commit."""
    fields = ("model", "machine", "cpu", "gpu", "torch", "commit")
    return measurement.describe(*fields) or measurement.source


def _notes(measurement: Measurement) -> Iterator[str]:
    if measurement.run_count == 1:
        yield "one run: the interval cannot know how processes differ; three runs can"
    if measurement.complete and measurement.missing:
        holes = ", ".join(f"{s.batch}×{s.length}" for s in measurement.missing[:HOLES_NAMED])
        yield f"no time of {len(measurement.missing)} captured shapes, and none made up: {holes}"
    if measurement.queueing is None:
        yield "the source does not say how it timed: taken to be single forwards without queueing"
    if measurement.environment.get("dirty"):
        yield "measured on a commit with uncommitted changes"
