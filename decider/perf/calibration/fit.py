"""The line `t = a + b*B*T` through the cells, and an interval for the overhead a/b.

Medians weighted for relative error, neither coefficient below 0. A median keeps slow outliers out;
the weight keeps the large forwards, whose absolute error is the largest, from deciding the
intercept alone. Knows numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import optimize, special

from decider.perf.calibration.replication import Floats, Replicates

LEVEL = 0.95
DRAWS = 1_000
ROUNDING = 1e-9
"""Parts of a time below this share of it are rounding, and count as 0."""

FEWEST_RUNS = 3
"""From so many runs on they are the unit of replication: the process, not the block."""

Unit = Literal["run", "block", "cell"]


@dataclass(frozen=True)
class Line:
    """`milliseconds = fixed + per_token * B*T`."""

    fixed: float
    per_token: float

    @property
    def overhead(self) -> float:
        """Fixed cost of a forward, in token-units; infinite for a line without slope."""
        return self.fixed / self.per_token if self.per_token > 0 else float("inf")

    def milliseconds(self, tokens: Floats) -> Floats:
        """What the line says for forwards of so many padded tokens."""
        return self.fixed + self.per_token * tokens


@dataclass(frozen=True)
class Interval:
    """An interval of the overhead, in token-units, and what it was replicated over.

    `draws` are overheads from the bootstrap, or a sample of the same spread where runs are few.
    """

    low: float
    high: float
    unit: Unit
    count: int
    draws: Floats


def fit_nonnegative(terms: Floats, milliseconds: Floats) -> Floats:
    """Coefficients, none below 0, that make `terms @ coefficients` fit with least relative error.

    Args:
        terms: an array [cells, terms].
        milliseconds: what was measured, above 0.
    """
    scale = np.maximum(terms.max(axis=0), np.finfo(float).tiny)
    weighted = terms / scale / milliseconds[:, None]
    coefficients, _ = optimize.nnls(weighted, np.ones(len(milliseconds)))
    return np.asarray(coefficients / scale)


def fit_line(tokens: Floats, milliseconds: Floats) -> Line:
    """The line through cells, with least relative error and no coefficient below 0."""
    terms = np.stack([np.ones_like(tokens), tokens], axis=1)
    coefficients = fit_nonnegative(terms, milliseconds)
    rounding = ROUNDING * milliseconds.min()
    fixed, per_token = np.where(coefficients * terms.max(axis=0) > rounding, coefficients, 0)
    return Line(float(fixed), float(per_token))


def overheads(tokens: Floats, milliseconds: Floats) -> Floats:
    """`fit_line(...).overhead` of many measurements at once: milliseconds [draws, cells].

    The normal equations of two unknowns, and the better bound where their solution has a
    coefficient below 0.
    """
    weight = milliseconds**-2.0
    w, wx = weight.sum(axis=1), weight @ tokens
    wxx = weight @ tokens**2
    wy, wxy = (1 / milliseconds).sum(axis=1), (1 / milliseconds) @ tokens
    fixed, per_token = wxx * wy - wx * wxy, w * wxy - wx * wy
    overhead = np.maximum(fixed, 0) / np.where(per_token > 0, per_token, 1)
    return np.where(per_token > 0, overhead, np.inf)


def overhead_interval(
    replicates: Replicates,
    random: np.random.Generator,
    *,
    scattered: bool = False,
    draws: int = DRAWS,
) -> Interval:
    """The interval of the overhead at level `LEVEL`.

    From three runs on, by Student's t over the logarithms of the runs' own overheads: a bootstrap
    of so few runs has too few different draws to reach its tails. With fewer, by the percentiles of
    a bootstrap of the units (runs, or the blocks of one run) within cells. Where most cells have
    one unit, or the cells are `scattered` about the line by more than their units vary, by a
    bootstrap of the cells' distances from the line (the wild bootstrap, Wu 1986), which then holds
    what the process and the line's misfit do to single cells.

    Args:
        replicates: the samples.
        random: draws the bootstrap samples.
        scattered: whether lack of fit was found.
        draws: how many bootstrap samples.
    """
    own = run_overheads(replicates)
    if len(own) >= FEWEST_RUNS:
        centre = fit_line(replicates.tokens, replicates.medians).overhead
        return _over_runs(centre, own, random, draws)
    counts = [len(units) for units in replicates.units]
    if scattered or 2 * sum(count > 1 for count in counts) < len(counts):
        return _over_cells(replicates.tokens, replicates.medians, random, draws)
    drawn = overheads(replicates.tokens, replicates.resampled_medians(draws, random))
    return _percentiles(drawn, "block" if len(own) == 1 else "run", min(counts))


def run_overheads(replicates: Replicates) -> Floats:
    """The overhead of each run's own line through the cells that it measured."""
    own = [replicates.of_run(number) for number in replicates.run_numbers]
    return np.array([fit_line(one.tokens, one.medians).overhead for one in own])


def _over_runs(centre: float, own: Floats, random: np.random.Generator, count: int) -> Interval:
    if not (np.isfinite(own).all() and own.min() > 0 and 0 < centre < np.inf):
        return Interval(0.0, float("inf"), "run", len(own), random.choice(own, count))
    error = float(np.std(np.log(own), ddof=1)) / len(own) ** 0.5
    freedom = len(own) - 1
    reach = float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * error
    draws = centre * np.exp(error * random.standard_t(freedom, count))
    low, high = centre * np.exp([-reach, reach])
    return Interval(float(low), float(high), "run", len(own), draws)


def _over_cells(
    tokens: Floats, milliseconds: Floats, random: np.random.Generator, draws: int
) -> Interval:
    line = fit_line(tokens, milliseconds)
    expected = line.milliseconds(tokens)
    weighted = np.stack([np.ones_like(tokens), tokens], axis=1) / milliseconds[:, None]
    basis, _ = np.linalg.qr(weighted)
    leverage = np.minimum((basis**2).sum(axis=1), 1 - 1e-9)
    distance = (milliseconds / expected - 1) / np.sqrt(1 - leverage)
    signs = random.choice([-1.0, 1.0], size=(draws, len(tokens)))
    drawn = expected * np.maximum(1 + signs * distance, np.finfo(float).eps)
    return _percentiles(overheads(tokens, drawn), "cell", len(tokens))


def _percentiles(draws: Floats, unit: Unit, count: int) -> Interval:
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], method="inverted_cdf")
    return Interval(float(low), float(high), unit, count, draws)
