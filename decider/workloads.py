"""Row lengths and arrival times made from a seed.

Named mixes say how long the rows of a queue are, `arrival_times` when they arrive. Both are inputs
for benchmarks, tests and the load generator; this module knows no grids, no costs and no files
(traces of real services are in `decider.traces`).

The same mix, size and seed give the same rows with any numpy: lengths are quantiles of the raw
output of PCG64, which numpy keeps as it is, and use none of the samplers that it may change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

LEAST_VARIATION, LARGEST_VARIATION = 1e-6, 100.0
"""Gaps that vary less are even; if they varied more, nearly all would be too small for a float."""


def _checked_whole(name: str, value: Any, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)


@dataclass(frozen=True)
class Mix:
    """A distribution of row lengths.

    Args:
        name: what it is asked for by.
        description: one line for people.
        anchors: its quantile function, as (probability, tokens) from probability 0 to 1. Between
            two anchors the logarithm of the length is a straight line in the probability, or the
            length itself where `linear` is set.
        linear: see `anchors`.
        long_row: exactly one row of each queue, at a place drawn with the rest, has this length.

    Raises:
        ValueError: the probabilities do not rise from 0 to 1, or a length is below 1 or below the
            one before.
    """

    name: str
    description: str
    anchors: tuple[tuple[float, float], ...]
    linear: bool = False
    long_row: int | None = None

    def __post_init__(self) -> None:
        probabilities = [probability for probability, _ in self.anchors]
        if len(self.anchors) < 2 or probabilities[0] != 0 or probabilities[-1] != 1:
            raise ValueError(f"mix {self.name!r}: the anchors must go from probability 0 to 1")
        if not 1 <= self.anchors[0][1] < math.inf:
            raise ValueError(f"mix {self.name!r}: length {self.anchors[0][1]!r} is below 1")
        for (low, short), (high, long) in pairwise(self.anchors):
            if not (low < high and short <= long < math.inf):
                raise ValueError(
                    f"mix {self.name!r}: anchor {(high, long)} does not rise above {(low, short)}"
                )
        if self.long_row is not None:
            _checked_whole(f"mix {self.name!r}: long_row", self.long_row, least=1)

    def quantile(self, probability: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Row lengths, in whole tokens, that a share `probability` of rows does not exceed.

        `long_row` is no part of it.

        Raises:
            ValueError: a probability is not between 0 and 1.
        """
        at = np.asarray(probability, dtype=np.float64)
        if (outside := at[~((at >= 0) & (at <= 1))]).size:
            raise ValueError(f"probability must be from 0 to 1, not {outside[0]!r}")
        known, tokens = np.array(self.anchors, dtype=np.float64).T
        if self.linear:
            lengths = np.interp(at, known, tokens)
        else:
            lengths = np.exp(np.interp(at, known, np.log(tokens)))
        return np.asarray(np.rint(lengths), dtype=np.int64)


def _by_name(*mixes: Mix) -> Mapping[str, Mix]:
    return MappingProxyType({mix.name: mix for mix in mixes})


MIXES: Mapping[str, Mix] = _by_name(
    Mix(
        "short",
        "a small-model service: half the rows within 40 tokens, 1% above 1,470 (after ServeGen)",
        (
            *((0.0, 10), (0.01, 18), (0.25, 20), (0.5, 40), (0.8, 70), (0.9, 320)),
            *((0.95, 573), (0.99, 1_470), (0.999, 3_000), (1.0, 9_370)),
        ),
    ),
    Mix(
        "decision",
        "decision prompts: median 224 tokens, 5% above 4,399, none above 8,822; roughly lognormal",
        (
            *((0.0, 12), (0.05, 24), (0.25, 80), (0.5, 224), (0.75, 760), (0.9, 2_280)),
            *((0.95, 4_399), (0.98, 8_400), (1.0, 8_822)),
        ),
    ),
    Mix(
        "chat",
        "chat prompts: median 1,020 tokens, 1% above 4,142, longest 14,050 (after Azure 2023)",
        (
            *((0.0, 2), (0.01, 29), (0.05, 181), (0.1, 207), (0.2, 387), (0.3, 403)),
            *((0.5, 1_020), (0.75, 1_189), (0.8, 1_315), (0.9, 2_734), (0.95, 4_083)),
            *((0.99, 4_142), (0.999, 6_212), (1.0, 14_050)),
        ),
    ),
    Mix(
        "code",
        "code prompts: median 1,469 tokens, a service limit at 7,437 (after Azure 2023)",
        (
            *((0.0, 3), (0.01, 17), (0.1, 147), (0.25, 578), (0.5, 1_469), (0.75, 2_745)),
            *((0.8, 3_193), (0.9, 5_188), (0.95, 7_315), (0.99, 7_436), (1.0, 7_437)),
        ),
    ),
    Mix(
        "uniform",
        "lengths spread evenly from 1 to 8,192 tokens",
        ((0.0, 1), (1.0, 8_192)),
        linear=True,
    ),
    Mix("equal", "every row 200 tokens", ((0.0, 200), (1.0, 200))),
    Mix(
        "bimodal",
        "every row 12 tokens but one of 8,000",
        ((0.0, 12), (1.0, 12)),
        long_row=8_000,
    ),
)
"""The named mixes. Lengths are in tokens."""


def row_lengths(
    mix: str | Mix, size: int, seed: int = 0, *, longest: int | None = None
) -> npt.NDArray[np.int64]:
    """The lengths, in tokens and in arrival order, of the rows of one queue.

    A larger queue of the same seed begins with the rows of a smaller one, except in a mix with a
    long row.

    Args:
        mix: a name in `MIXES`, or a mix of your own.
        size: how many rows.
        seed: which of the mix's queues.
        longest: rows above it are cut to it, as a server that truncates its input would, so the
            share of rows that were longer is found at exactly `longest`. For grids that end early.

    Raises:
        ValueError: no mix has that name, or `size`, `seed` or `longest` is not a whole number of at
            least 0, 0 or 1.
    """
    if not isinstance(mix, Mix):
        if mix not in MIXES:
            raise ValueError(f"no mix is named {mix!r}; there are {', '.join(MIXES)}")
        mix = MIXES[mix]
    size = _checked_whole("size", size, least=0)
    drawn = _uniforms(np.random.PCG64(_checked_whole("seed", seed, least=0)), size)
    lengths = mix.quantile(drawn)
    if mix.long_row is not None and size:
        lengths[np.argmax(drawn)] = mix.long_row
    if longest is not None:
        lengths = np.minimum(lengths, _checked_whole("longest", longest, least=1))
    return lengths


def arrival_times(
    rate: float, size: int, seed: int = 0, *, variation: float = 1.0
) -> npt.NDArray[np.float64]:
    """Arrival times, in seconds from the start and never falling, of `size` requests.

    The gaps between arrivals are independent and gamma distributed. They are drawn apart from row
    lengths, so that one seed serves both without tying long gaps to long rows.

    Args:
        rate: mean arrivals a second.
        size: how many arrivals.
        seed: which of the possible streams.
        variation: coefficient of variation of the gaps: 1 is a Poisson process, more is bursty,
            below a millionth is evenly spaced. Poisson and even times are the same with any numpy;
            others follow its gamma sampler, which a later numpy may change.

    Raises:
        ValueError: `rate` is not a finite number above 0, `variation` is not between 0 and 100, or
            `size` or `seed` is not a whole number of at least 0.
    """
    if not (0 < rate < math.inf and 1 / rate < math.inf):
        raise ValueError(f"rate must be a finite number above 0, not {rate!r}")
    if not 0 <= variation <= LARGEST_VARIATION:
        raise ValueError(f"variation must be from 0 to {LARGEST_VARIATION:g}, not {variation!r}")
    size = _checked_whole("size", size, least=0)
    bits = np.random.PCG64(_checked_whole("seed", seed, least=0)).jumped()
    if variation < LEAST_VARIATION:
        gaps = np.ones(size)
    elif variation == 1:
        gaps = -np.log1p(-_uniforms(bits, size))
    else:
        gaps = np.random.Generator(bits).gamma(1 / variation**2, variation**2, size)
    return np.cumsum(gaps) / rate


def _uniforms(bits: np.random.PCG64, size: int) -> npt.NDArray[np.float64]:
    """`size` doubles in [0, 1): the 53 high bits of raw outputs, as numpy's `random` has them."""
    raw = np.asarray(bits.random_raw(size), dtype=np.uint64)
    return np.asarray((raw >> np.uint64(11)) * 2.0**-53, dtype=np.float64)
