"""How well `t = a + b*B*T` describes the cells, and whether a fuller form would do better.

A lack-of-fit test where cells are replicated, the largest error and its cell, the error by size,
and the error on cells held out of the fit. R squared is no part of it: it is 0.996 beside an error
of a third at small sizes. Knows numbers and shapes only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from decider.grid import Shape
from decider.perf.calibration.fit import ROUNDING, fit_line, fit_nonnegative
from decider.perf.calibration.replication import Floats, Replicates

Mask = npt.NDArray[np.bool_]

SIGNIFICANT = 0.01
AS_GOOD = 1.05
"""A fuller form is named only where the simpler ones' held-out error is above this multiple."""
FEWEST_REPLICATES = 5
FEWEST_NEIGHBOURS = 10
BANDS = 4
MOST_FOLDS = 20
MOST_KNEES = 30


@dataclass(frozen=True)
class LackOfFit:
    """A test of whether the cells lie about the line by chance.

    Attributes:
        test: "F": the distances from the line against how far a cell's own values vary.
            "von Neumann": whether cells of neighbouring sizes lie on the same side, where cells
            were measured once.
        statistic: F, or the mean square of successive differences over the variance, which is 2
            for independent distances.
        p: the probability of a statistic as extreme where the line is true.
    """

    test: Literal["F", "von Neumann"]
    statistic: float
    p: float

    @property
    def found(self) -> bool:
        """Whether chance explains the distances worse than once in a hundred times."""
        return self.p < SIGNIFICANT


@dataclass(frozen=True)
class Band:
    """The line's error on the cells of one range of sizes: predicted over measured, less 1."""

    smallest: int
    largest: int
    cells: int
    mean_error: float
    worst_error: float


@dataclass(frozen=True)
class Form:
    """A form of the cost: terms with coefficients of at least 0.

    Attributes:
        name: for people.
        terms: (batch, length, knee) to an array [cells, terms].
        knees: the knees to choose from for cells of so many tokens; (0,) where it has none.
    """

    name: str
    terms: Callable[[Floats, Floats, float], Floats]
    knees: Callable[[Floats], Sequence[float]] = lambda _: (0.0,)


@dataclass(frozen=True)
class HeldOut:
    """A form's root mean square relative error on cells it was not fitted to.

    Attributes:
        form: its name.
        by_kind: the error by what was held out; a kind that the grid is too small for is absent.
        error: over all of them.
    """

    form: str
    by_kind: dict[str, float]
    error: float


@dataclass(frozen=True)
class Goodness:
    """What is known of the line's fit.

    Attributes:
        lack_of_fit: the test, None where there are too few cells for one.
        worst_shape, worst_error: the cell with the largest relative error, signed.
        bands: the error by size, smallest first.
        held_out: each form's held-out error, the line first; empty where nothing can be held out.
    """

    lack_of_fit: LackOfFit | None
    worst_shape: Shape
    worst_error: float
    bands: tuple[Band, ...]
    held_out: tuple[HeldOut, ...]

    @property
    def best_form(self) -> str:
        """The simplest form whose held-out error is within 5% of the least."""
        least = min((one.error for one in self.held_out), default=0.0)
        good = (one.form for one in self.held_out if one.error <= AS_GOOD * least)
        return next(good, LINE.name)

    @property
    def misfit(self) -> bool:
        """Whether the line is wrong by more than chance explains."""
        return self.lack_of_fit is not None and self.lack_of_fit.found

    @property
    def worst_band(self) -> Band:
        """The range of sizes with the largest mean error."""
        return max(self.bands, key=lambda band: abs(band.mean_error))


def goodness(replicates: Replicates) -> Goodness:
    """How well the line through the cells' medians fits them."""
    tokens, medians = replicates.tokens, replicates.medians
    errors = fit_line(tokens, medians).milliseconds(tokens) / medians - 1
    worst = int(np.argmax(np.abs(errors)))
    return Goodness(
        lack_of_fit(replicates),
        replicates.shapes[worst],
        float(errors[worst]),
        tuple(_bands(tokens, errors)),
        tuple(held_out_errors(replicates.shapes, medians)),
    )


def lack_of_fit(replicates: Replicates) -> LackOfFit | None:
    """Test the line, against replicates where there are enough; None where nothing can be tested.

    The values are block medians, or run medians where there are several runs; their spread is taken
    relative to the cell and alike in all cells.
    """
    units = [np.array([median(unit) for unit in cell]) for cell in replicates.units]
    counts = np.array([len(values) for values in units], dtype=float)
    # Levelling the blocks used one degree of freedom for each of them but one.
    freedom = int(counts.sum() - len(units) - (counts.max() - 1))
    if freedom >= FEWEST_REPLICATES and len(units) > 2:
        return _against_replicates(replicates.tokens, units, counts, freedom)
    if len(units) >= FEWEST_NEIGHBOURS:
        return _against_neighbours(replicates.tokens, replicates.medians)
    return None


def _against_replicates(
    tokens: Floats, units: Sequence[Floats], counts: Floats, freedom: int
) -> LackOfFit:
    means = np.array([values.mean() for values in units])
    within = sum(float((((v - v.mean()) / v.mean()) ** 2).sum()) for v in units)
    weight = np.sqrt(counts) / means
    terms = np.stack([np.ones_like(tokens), tokens / tokens.max()], axis=1) * weight[:, None]
    coefficients, *_ = np.linalg.lstsq(terms, weight * means, rcond=None)
    between = float(((weight * means - terms @ coefficients) ** 2).sum())
    f = between / (len(units) - 2) / max(within / freedom, ROUNDING**2)
    return LackOfFit("F", f, float(special.fdtrc(len(units) - 2, freedom, f)))


def _against_neighbours(tokens: Floats, medians: Floats) -> LackOfFit:
    """The ratio test of von Neumann (1941), by its normal approximation."""
    errors = (fit_line(tokens, medians).milliseconds(tokens) / medians - 1)[np.argsort(tokens)]
    count = len(errors)
    if np.abs(errors).max() < ROUNDING:  # neighbours share their rounding
        return LackOfFit("von Neumann", 2.0, 1.0)
    variation = float(((errors - errors.mean()) ** 2).sum())
    ratio = float((np.diff(errors) ** 2).sum()) / variation * count / (count - 1)
    mean = 2 * count / (count - 1)
    variance = 4 * count**2 * (count - 2) / ((count + 1) * (count - 1) ** 3)
    return LackOfFit("von Neumann", ratio, float(special.ndtr((ratio - mean) / variance**0.5)))


def held_out_errors(shapes: Sequence[Shape], milliseconds: Floats) -> Iterator[HeldOut]:
    """Each form's error on cells that it was not fitted to.

    Held out are, in turn, the cells of one batch bucket, of one length bucket (or of neighbouring
    ones where there are many), and every fifth of the cells inside the grid.
    """
    folds = [(kind, held) for kind, held in _folds(shapes) if _is_fittable(shapes, ~held)]
    if not folds:
        return
    batch = np.array([shape.batch for shape in shapes], dtype=float)
    length = np.array([shape.length for shape in shapes], dtype=float)
    for form in FORMS:
        squares: dict[str, list[float]] = {}
        for kind, held in folds:
            predicted = _predict(form, batch, length, milliseconds, held)
            errors = predicted / milliseconds[held] - 1
            squares.setdefault(kind, []).extend((errors**2).tolist())
        pooled = [square for values in squares.values() for square in values]
        by_kind = {kind: float(np.sqrt(np.mean(values))) for kind, values in squares.items()}
        yield HeldOut(form.name, by_kind, float(np.sqrt(np.mean(pooled))))


def _predict(form: Form, batch: Floats, length: Floats, milliseconds: Floats, held: Mask) -> Floats:
    """The held cells' times after a fit to the others, at the knee that fits those best."""
    fitted = ~held
    best = np.inf
    predicted = np.zeros(int(held.sum()))
    for knee in form.knees(batch[fitted] * length[fitted]):
        terms = form.terms(batch, length, knee)
        coefficients = fit_nonnegative(terms[fitted], milliseconds[fitted])
        errors = terms[fitted] @ coefficients / milliseconds[fitted] - 1
        if (loss := float((errors**2).sum())) < best:
            best, predicted = loss, terms[held] @ coefficients
    return predicted


def _folds(shapes: Sequence[Shape]) -> Iterator[tuple[str, Mask]]:
    batch = np.array([shape.batch for shape in shapes])
    length = np.array([shape.length for shape in shapes])
    for kind, values in (("batch bucket", batch), ("length bucket", length)):
        distinct = np.unique(values)
        if len(distinct) > 2:
            for group in np.array_split(distinct, min(MOST_FOLDS, len(distinct))):
                yield kind, np.isin(values, group)
    inside = np.flatnonzero(_inside(batch) & _inside(length))
    for first in range(5):
        held = np.zeros(len(shapes), dtype=bool)
        held[inside[first::5]] = True
        if held.any():
            yield "cells inside", held


def _inside(values: npt.NDArray[np.int64]) -> Mask:
    return np.asarray((values > values.min()) & (values < values.max()))


def _is_fittable(shapes: Sequence[Shape], kept: Mask) -> bool:
    return len({s.batch * s.length for s, keep in zip(shapes, kept, strict=True) if keep}) >= 4


def _bands(tokens: Floats, errors: Floats) -> Iterator[Band]:
    """Ranges of sizes, each as many times wide as the others, that hold cells."""
    edges = np.geomspace(tokens.min(), tokens.max(), BANDS + 1)[1:-1]
    band_of = np.searchsorted(edges, tokens, side="left")
    for band in np.unique(band_of):
        own, sizes = errors[band_of == band], tokens[band_of == band]
        yield Band(
            int(sizes.min()),
            int(sizes.max()),
            len(own),
            float(own.mean()),
            float(own[np.argmax(np.abs(own))]),
        )


def _columns(*columns: Floats) -> Floats:
    return np.stack(columns, axis=1)


def _knees(tokens: Floats) -> Sequence[float]:
    """No knee, and sizes spread over the smaller half of those measured."""
    distinct = np.unique(tokens)
    lower = distinct[: max(1, len(distinct) // 2)]
    picked = np.unique(np.linspace(0, len(lower) - 1, min(MOST_KNEES, len(lower))).astype(int))
    return [0.0, *lower[picked].tolist()]


LINE = Form("a + b·B·T", lambda b, t, _: _columns(np.ones_like(b), b * t))
FORMS = (
    LINE,
    Form("a + b·B·T + c·B", lambda b, t, _: _columns(np.ones_like(b), b * t, b)),
    Form("a + b·B·T + c·B·T²", lambda b, t, _: _columns(np.ones_like(b), b * t, b * t**2)),
    Form(
        "a + b·max(0, B·T − knee)",
        lambda b, t, knee: _columns(np.ones_like(b), np.maximum(0, b * t - knee)),
        _knees,
    ),
)
"""The line, then with a term for the rows, with one for attention, and flat up to a knee."""
