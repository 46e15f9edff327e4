"""The verdict on every cell, from the log-ratios of the pairs and the looks taken.

Replays the looks from the first one, so that a run that was interrupted resumes by being judged
again. Pure and deterministic; knows nothing of processes, files or time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from decider.perf.verdict.design import DEFAULT_DESIGN, Design
from decider.perf.verdict.flips import MOST_FLIPS, Floats
from decider.perf.verdict.look import Look, take_look
from decider.perf.verdict.resolution import (
    MOST_PAIRS,
    pairs_needed,
    relative_change,
    smallest_visible,
)

UNCHANGED_STANDS_FROM = 20
"""Pairs. With fewer, "unchanged" holds if the run ends, but the cell is sampled on: a change of
half the margin is as far from 0 as from the margin, and would be called unchanged before it could
be seen."""
LARGEST_LOG_RATIO = 100.0
"""e**100: no ratio of two times."""


class Verdict(StrEnum):
    """What is concluded about a cell; `judge` gives the first four."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not comparable"
    FAILED = "failed"


CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED)


@dataclass(frozen=True)
class Judgement:
    """What is concluded about one cell, and from what.

    Attributes:
        verdict: regressed or improved when the interval excludes 0, whatever its size; else
            unchanged when the change is shown to be within the margin; else inconclusive.
        pairs: log-ratios it rests on.
        decided_at: pairs complete at the look that decided it; None while it must be sampled on,
            which an unchanged cell may have to be too.
        change: relative: the mean of the log-ratios, as a ratio less 1; None without any.
        low, high: the interval of the change at the alarm level, which holds for all cells
            together; None where it has no bound.
        smallest_visible: the relative slow-down that as many pairs would have called in nine of ten
            runs; None where none.
        pairs_needed: of an inconclusive cell: pairs in all that would decide it if change and
            spread stayed as they are; None above 1,000 or where nothing can be said.
    """

    verdict: Verdict
    pairs: int
    decided_at: int | None
    change: float | None
    low: float | None
    high: float | None
    smallest_visible: float | None
    pairs_needed: int | None


NOTHING_KNOWN = Judgement(Verdict.INCONCLUSIVE, 0, None, None, None, None, None, None)


def judge(
    ratios: Mapping[str, Sequence[float]],
    looks_taken: Sequence[int],
    design: Design = DEFAULT_DESIGN,
    *,
    most_flips: int = MOST_FLIPS,
) -> dict[str, Judgement]:
    """Judge every cell.

    Args:
        ratios: by cell, the natural logarithm of head over base in each pair, in order; NaN where a
            pair lacks the cell, and nothing after the last pair that has it. All cells of the run,
            decided ones too.
        looks_taken: pairs complete at each look so far; the k-th look sees that many pairs only,
            and of a cell that an earlier look decided only what that one saw.
        design: levels, margin and planned looks.
        most_flips: sign vectors of the tests, a power of two; a tenth is enough to simulate.

    Returns:
        A judgement for each cell, in the order of `ratios`.

    Raises:
        ValueError: a ratio is infinite or absurd (the message names cell and pair), the looks do
            not rise, or there are more than planned.
    """
    looks = design.check_looks_taken(looks_taken)
    names = list(ratios)
    matrix = _matrix(ratios, looks[-1] if looks else 0)
    judgements = dict.fromkeys(names, NOTHING_KNOWN)
    stopped = np.zeros(len(names), dtype=int)
    for number, pairs in enumerate(looks, start=1):
        open_cells = np.flatnonzero(stopped == 0)
        if not len(open_cells):
            break
        look = take_look(
            _with_stand_ins(matrix[:pairs], stopped),
            design,
            cells=open_cells.tolist(),
            most_flips=most_flips,
        )
        stands = pairs >= UNCHANGED_STANDS_FROM or number == len(design.looks)
        is_last = number == len(looks)
        for place, cell in enumerate(open_cells.tolist()):
            verdict = _verdict(look, place)
            decided = verdict in CHANGED or (verdict is Verdict.UNCHANGED and stands)
            if decided:
                stopped[cell] = pairs
            if decided or is_last:
                judgements[names[cell]] = _judgement(look, place, verdict, decided, pairs, design)
    return judgements


def undecided(judgements: Mapping[str, Judgement]) -> list[str]:
    """The cells that the next pair must sample."""
    return [cell for cell, judgement in judgements.items() if judgement.decided_at is None]


def _matrix(ratios: Mapping[str, Sequence[float]], pairs: int) -> Floats:
    """[pairs, cells], NaN where there is no value."""
    matrix = np.full((pairs, len(ratios)), np.nan)
    for column, (cell, values) in enumerate(ratios.items()):
        read = np.asarray(values, dtype=float)
        wrong = np.flatnonzero(np.abs(read) > LARGEST_LOG_RATIO)
        if len(wrong):
            raise ValueError(
                f"{cell}, pair {wrong[0] + 1}: a log-ratio of {read[wrong[0]]:g} is no "
                "measurement; leave out (NaN) what was not measured"
            )
        matrix[: len(read), column] = read[:pairs]
    return matrix


def _with_stand_ins(matrix: Floats, stopped: np.ndarray[tuple[int], np.dtype[np.int_]]) -> Floats:
    """The matrix with a stopped cell's own pairs, repeated, in place of those it no longer took.

    Without them the criteria would get easier at every look for the cells that are left, which are
    left because they look as if they had changed.
    """
    filled = matrix.copy()
    rows = np.arange(len(matrix))
    for cell in np.flatnonzero(stopped):
        filled[:, cell] = matrix[rows % stopped[cell], cell]
    return filled


def _judgement(
    look: Look, cell: int, verdict: Verdict, decided: bool, pairs: int, design: Design
) -> Judgement:
    count = int(look.counts[cell])
    if count == 0:
        return NOTHING_KNOWN
    mean, spread = float(look.means[cell]), float(look.spreads[cell])
    half_width = float(look.half_widths[cell])
    needed = _pairs_needed(look, cell, pairs, design) if verdict is Verdict.INCONCLUSIVE else None
    return Judgement(
        verdict=verdict,
        pairs=count,
        decided_at=pairs if decided else None,
        change=relative_change(mean),
        low=relative_change(mean - half_width),
        high=relative_change(mean + half_width),
        smallest_visible=smallest_visible(half_width, spread, count),
        pairs_needed=needed,
    )


def _verdict(look: Look, cell: int) -> Verdict:
    if look.changed[cell]:
        return Verdict.REGRESSED if look.means[cell] > 0 else Verdict.IMPROVED
    return Verdict.UNCHANGED if look.equivalent[cell] else Verdict.INCONCLUSIVE


def _pairs_needed(look: Look, cell: int, pairs: int, design: Design) -> int | None:
    count = int(look.counts[cell])
    needed = pairs_needed(
        float(look.means[cell]),
        float(look.spreads[cell]),
        count,
        margin=design.log_margin,
        alarm_tail=look.alarm_tail,
        equivalence_tail=look.equivalence_tail,
        fewest=1 + math.ceil(-math.log2(design.alarm_level_of_a_look)),
    )
    if needed is None or needed + pairs - count > MOST_PAIRS:
        return None
    return needed + pairs - count
