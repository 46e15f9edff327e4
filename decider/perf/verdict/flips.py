"""Sign vectors, and the value that the largest of many statistics seldom exceeds under them.

If two commits do not differ, the arms of a pair may be swapped: the pair's log-ratios change sign,
all cells together. Knows vectors and levels; no cells by name, no verdicts.

The sign vectors always form a group. Then the test is exact for any noise and any dependence
between cells, with the few vectors that are used and not only with all of them (Hoeffding 1952;
Southworth, Kim and Owen 2009): the data and their flips by the group are equally likely, and at
most a share `level` of them can be among the `level` most extreme.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MOST_FLIPS = 2**13
"""Sign vectors, counting a vector and its mirror image once: all of them up to 14 pairs."""
ROUNDING = 1e-9
"""Statistics that differ by less, relatively, are ties."""
BLOCK = 512
SEED = 20_261_201


@lru_cache(maxsize=32)
def sign_vectors(pairs: int, most: int = MOST_FLIPS) -> Floats:
    """A group of sign vectors, up to the mirror image: rows of +1 and -1, the first all +1.

    Args:
        pairs: length of a vector, at least 1.
        most: how many at most, a power of two; all 2**(pairs - 1) where they are no more.

    Returns:
        Array [vectors, pairs], the first column +1: with its mirror image each row stands for two.

    Raises:
        ValueError: `most` is no power of two, or too small to tell so many pairs apart.
    """
    bits = most.bit_length() - 1
    if most < 2 or most != 2**bits:
        raise ValueError(f"the number of sign vectors must be a power of two above 1, not {most}")
    bits = min(bits, pairs - 1)
    if pairs > 2**bits:
        raise ValueError(f"{pairs} pairs are too many for {most} sign vectors")
    index = np.arange(2**bits)[:, None] >> np.arange(bits) & 1
    generators = _generators(pairs, bits)[None, :] >> np.arange(bits)[:, None] & 1
    signs: Floats = 1.0 - 2.0 * (index @ generators % 2)
    signs.flags.writeable = False
    return signs


def _generators(pairs: int, bits: int) -> npt.NDArray[np.int64]:
    """For each pair the bits of a vector's index that flip it.

    All differ, so that no two pairs always flip together. The second to the (bits + 1)th pair have
    a bit of their own; the rest are drawn, from raw bits, which numpy does not change.
    """
    masks = [0, *(2**bit for bit in range(bits))][:pairs]
    used = set(masks)
    source = np.random.PCG64(SEED)
    while len(masks) < pairs:
        mask = int(source.random_raw()) & (2**bits - 1)
        if mask not in used:
            used.add(mask)
            masks.append(mask)
    return np.array(masks, dtype=np.int64)


def unit_columns(values: Floats) -> Floats:
    """Each column of [pairs, columns] over its length: its sum is then R = sum(d)/sqrt(sum(d*d)).

    Missing values (NaN) become 0, which adds to neither sum; a column of zeros stays one.
    """
    filled = np.where(np.isnan(values), 0.0, values)
    scale = np.abs(filled).max(axis=0, initial=0.0)
    filled = filled / np.where(scale > 0, scale, 1.0)
    length = np.sqrt((filled * filled).sum(axis=0))
    unit: Floats = filled / np.where(length > 0, length, 1.0)
    return unit


def critical_value(
    units: Floats, level: float, *, two_sided: bool, most: int = MOST_FLIPS
) -> float:
    """What the largest sum of a column of `units` exceeds under at most a share `level` of flips.

    The maximum over all columns makes it the single-step procedure of Westfall and Young (1993):
    rejecting every column whose own sum is above it errs with probability `level` at most, however
    many and whichever columns have no effect.

    Args:
        units: array [pairs, columns] as `unit_columns` makes it.
        level: above 0 and below 1.
        two_sided: whether the sum's size or its value is looked at.
        most: sign vectors, as `sign_vectors` takes them.

    Returns:
        The value, or infinity where so few pairs can never be extreme enough.
    """
    pairs, columns = units.shape
    if pairs == 0 or columns == 0:
        return math.inf
    signs = sign_vectors(pairs, most)
    largest = np.empty(len(signs))
    mirrored = np.empty(len(signs))
    for start in range(0, len(signs), BLOCK):
        sums = signs[start : start + BLOCK] @ units
        largest[start : start + BLOCK] = sums.max(axis=1)
        mirrored[start : start + BLOCK] = -sums.min(axis=1)
    maxima = np.maximum(largest, mirrored) if two_sided else np.concatenate([largest, mirrored])
    allowed = math.floor(level * len(maxima) * (1 + ROUNDING))
    if allowed == 0:
        return math.inf
    place = len(maxima) - 1 - allowed
    value = float(np.partition(maxima, place)[place])
    return value + abs(value) * ROUNDING
