"""The queues on which a constant is judged: of the named mixes, or cut from a trace.

Seeds start far above those that benchmarks use, so that no constant is judged on a queue that it
was looked at with before. Knows row lengths; knows no costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from decider.traces import read_trace
from decider.workloads import row_lengths

SIZES = (4, 8, 16, 32, 128)
FIRST_SEED = 1_000_000

Queue = list[int]


@dataclass(frozen=True)
class Stratum:
    """Queues of one mix, or of one trace, and of one size."""

    mix: str
    size: int
    queues: tuple[Queue, ...]


def queues_of_mixes(mixes: Sequence[str], count: int, longest: int) -> list[Stratum]:
    """`count` queues of each mix and size; rows above `longest` tokens are cut to it.

    Raises:
        ValueError: no mix has one of the names.
    """
    return [
        Stratum(mix, size, tuple(_drawn(mix, size, count, longest)))
        for mix in mixes
        for size in SIZES
    ]


def queues_of_trace(
    path: Path, count: int, longest: int, say: Callable[[str], None]
) -> list[Stratum]:
    """At most `count` queues of each size, of rows that follow each other in a trace.

    Args:
        path: a trace that `decider.traces` reads.
        count: queues of each size.
        longest: rows above it are cut to it.
        say: given what the reader has to say about the trace.

    Raises:
        ValueError: the trace cannot be read or holds fewer rows than the smallest queue.
    """
    rows = read_trace(path, say=say)
    lengths = [min(row.tokens, longest) for row in islice(rows, count * SIZES[-1])]
    strata = [
        Stratum(path.stem, size, tuple(_cut(lengths, size, count)))
        for size in SIZES
        if size <= len(lengths)
    ]
    if not strata:
        raise ValueError(f"{path}: {len(lengths)} rows, fewer than a queue of {SIZES[0]}")
    return strata


def _drawn(mix: str, size: int, count: int, longest: int) -> Iterator[Queue]:
    for number in range(count):
        lengths = row_lengths(mix, size, FIRST_SEED + number, longest=longest)
        yield [int(tokens) for tokens in lengths]


def _cut(lengths: Sequence[int], size: int, count: int) -> Iterator[Queue]:
    for start in list(range(0, len(lengths) - size + 1, size))[:count]:
        yield list(lengths[start : start + size])
