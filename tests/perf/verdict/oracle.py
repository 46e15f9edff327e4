"""The verdicts once more: every sign vector, one cell at a time, intervals by bisection. Slow."""

import math
from itertools import product

from scipy import stats

TIE = 1e-9


def statistic(values):
    """R of one cell: the sum over the root of the sum of squares."""
    present = [value for value in values if not math.isnan(value)]
    square = math.fsum(value * value for value in present)
    return math.fsum(present) / math.sqrt(square) if square > 0 else 0.0


def flipped(values, signs):
    return [sign * value for sign, value in zip(signs, values, strict=True)]


def critical(columns, level, *, two_sided):
    """The smallest value that the largest statistic exceeds under at most a share of all flips."""
    rows = [
        row for row in zip(*columns, strict=True) if any(not math.isnan(value) for value in row)
    ]
    if not rows:
        return math.inf
    columns = list(zip(*rows, strict=True))
    maxima = []
    for signs in product((1, -1), repeat=len(rows)):
        sums = [statistic(flipped(values, signs)) for values in columns]
        maxima.append(max(abs(one) for one in sums) if two_sided else max(sums))
    if level * len(maxima) / (2 if two_sided else 1) + TIE < 1:
        return math.inf
    for value in sorted(maxima):
        if sum(one > value + abs(value) * TIE for one in maxima) <= level * len(maxima) + TIE:
            return value + abs(value) * TIE
    raise AssertionError("nothing exceeds the largest")


def student_critical(tail, count):
    if count < 2:
        return math.inf
    t = float(stats.t.isf(tail, count - 1))
    return t * math.sqrt(count / (count - 1 + t * t))


def interval(values, limit):
    """The values that the mean is not told apart from, by bisection; None where unbounded."""
    present = [value for value in values if not math.isnan(value)]
    mean = math.fsum(present) / len(present)

    def told_apart(distance):
        return abs(statistic([value - mean - distance for value in present])) > limit

    far = 1e6
    if not told_apart(far):
        return None
    near = 0.0
    for _ in range(200):
        middle = (near + far) / 2
        if told_apart(middle):
            far = middle
        else:
            near = middle
    return mean - far, mean + far


def look(columns, everything, design):
    """Of each cell: the verdict and the interval of the log-ratio, at one look."""
    known = [values for values in everything if not all(map(math.isnan, values))]
    alarm = design.alarm_level / len(design.looks)
    zero = critical(known, alarm, two_sided=True)
    margin = math.log1p(design.margin)
    inside = [[margin - value for value in values] for values in known]
    inside += [[value + margin for value in values] for values in known]
    far = critical(inside, design.equivalence_level / len(design.looks), two_sided=False)
    found = []
    for values in columns:
        present = [value for value in values if not math.isnan(value)]
        if not present:
            found.append(("inconclusive", None))
            continue
        limit = max(zero, student_critical(alarm / 2 / len(known), len(present)))
        own = statistic(values)
        nearest = min(
            statistic([margin - value for value in values]),
            statistic([value + margin for value in values]),
        )
        if abs(own) > limit:
            verdict = "regressed" if own > 0 else "improved"
        else:
            verdict = "unchanged" if nearest > far else "inconclusive"
        found.append((verdict, interval(values, limit)))
    return found


def judge(ratios, looks, design, *, stands_from):
    """Of each cell: verdict, pairs of the deciding look, interval of the log-ratio."""
    result = dict.fromkeys(ratios, ("inconclusive", None, None))
    stopped = {}
    for number, pairs in enumerate(looks, start=1):
        full = {
            cell: [values[i] if i < len(values) else math.nan for i in range(pairs)]
            for cell, values in ratios.items()
        }
        everything = [
            [values[i % stopped.get(cell, pairs)] for i in range(pairs)]
            for cell, values in full.items()
        ]
        open_cells = [cell for cell in ratios if cell not in stopped]
        found = look([full[cell] for cell in open_cells], everything, design)
        for cell, (verdict, bounds) in zip(open_cells, found, strict=True):
            stands = pairs >= stands_from or number == len(design.looks)
            decided = verdict in ("regressed", "improved") or (verdict == "unchanged" and stands)
            result[cell] = (verdict, pairs if decided else None, bounds)
            if decided:
                stopped[cell] = pairs
    return result
