"""The captured shapes and their arithmetic.

A `BucketGrid` says which (batch bucket, length bucket) shapes the engine captures, at which padded
length a row runs and how many rows fit one forward. It knows no costs, no plans and no torch.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

DEFAULT_LENGTH_BUCKETS = (
    *(64, 128, 192, 256, 320, 384, 512, 640, 768, 1024),
    *(1280, 1536, 2048, 3072, 4096, 6144, 8192),
)
DEFAULT_BATCH_BUCKETS = (1, 2, 4, 8, 16, 32)
DEFAULT_TOKEN_BUDGET = 32_768
DEFAULT_LONG_STEP = 1_024

LENGTH_VARIABLE = "DECIDER_T_BUCKETS"
BATCH_VARIABLE = "DECIDER_B_BUCKETS"
BUDGET_VARIABLE = "DECIDER_GRAPH_TOKEN_BUDGET"


class Shape(NamedTuple):
    """One forward's padded input: `batch` rows of `length` tokens each."""

    batch: int
    length: int


class Finding(NamedTuple):
    """Something legal but wasteful about a grid: a stable `code` and a sentence for people."""

    code: str
    message: str


@dataclass(frozen=True)
class BucketGrid:
    """The grid of shapes an engine captures.

    A shape (B, T) is captured when B is 1 or B*T is within `token_budget`. A row of n tokens runs
    at the smallest length bucket T >= n; a row above the last bucket runs eager, padded to a
    multiple of `long_step`.

    Raises:
        ValueError: a ladder is empty, not strictly rising, or holds a value that is not a whole
            number of at least 1; `token_budget` or `long_step` is not a whole number of at least 1.
            The message names the field and the value.
    """

    length_buckets: tuple[int, ...] = DEFAULT_LENGTH_BUCKETS
    batch_buckets: tuple[int, ...] = DEFAULT_BATCH_BUCKETS
    token_budget: int = DEFAULT_TOKEN_BUDGET
    long_step: int = DEFAULT_LONG_STEP

    def __post_init__(self) -> None:
        for name in ("length_buckets", "batch_buckets"):
            object.__setattr__(self, name, _checked_ladder(name, getattr(self, name)))
        for name in ("token_budget", "long_step"):
            object.__setattr__(self, name, _checked_whole(name, getattr(self, name)))

    @cached_property
    def _hash(self) -> int:
        return hash((self.length_buckets, self.batch_buckets, self.token_budget, self.long_step))

    def __hash__(self) -> int:  # kept: a server looks its planner up by grid on every collection
        return self._hash

    def pad_len(self, n: int) -> int:
        """Padded length, in tokens, of a row of `n` tokens.

        Raises:
            ValueError: `n` is not a whole number of at least 1.
        """
        n = _checked_whole("row length", n)
        if n <= self.length_buckets[-1]:
            return self.length_buckets[bisect_left(self.length_buckets, n)]
        return -(-n // self.long_step) * self.long_step

    def pad_lens(self, lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """`pad_len` of every element of a one-dimensional array of row lengths.

        Raises:
            ValueError: an element is not a whole number of at least 1; the message names its row.
        """
        rows = np.asarray(lengths)
        if rows.size == 0:
            return np.zeros(0, dtype=np.int64)
        if rows.ndim != 1:
            raise ValueError(f"row lengths must be one-dimensional, not of shape {rows.shape}")
        if rows.dtype.kind not in "iu":
            return np.array([self.pad_len(n) for n in rows.tolist()], dtype=np.int64)
        if rows.min() < 1:
            row = int(np.argmax(rows < 1))
            raise ValueError(f"row {row}: length {rows[row]} is below 1")
        rows = rows.astype(np.int64, copy=False)
        ladder = np.asarray(self.length_buckets, dtype=np.int64)
        index = np.searchsorted(ladder, rows)
        above = index == len(ladder)
        padded = ladder[np.minimum(index, len(ladder) - 1)]
        if above.any():
            padded[above] = -(-rows[above] // self.long_step) * self.long_step
        return padded

    def is_bucketed(self, n: int) -> bool:
        """Whether a row of `n` tokens fits a length bucket, so that it need not run eager."""
        return n <= self.length_buckets[-1]

    def max_rows(self, length: int) -> int:
        """Rows one forward takes at padded length `length`.

        For a length bucket this is the widest batch bucket captured there; above the last bucket,
        where nothing is captured, it is as many rows as the token budget holds, at least one and
        at most the widest batch bucket.
        """
        if self.is_bucketed(length):
            captured = [b for b in self.batch_buckets if self.is_captured(b, length)]
            return captured[-1] if captured else 1
        return max(1, min(self.batch_buckets[-1], self.token_budget // length))

    def is_captured(self, batch: int, length: int) -> bool:
        """Whether the shape (batch bucket, length bucket) fits the rule of the grid."""
        return batch == 1 or batch * length <= self.token_budget

    def batch_bucket(self, rows: int) -> int:
        """The smallest batch bucket that holds `rows` rows.

        Raises:
            ValueError: `rows` is below 1 or above the widest batch bucket.
        """
        if rows < 1 or rows > self.batch_buckets[-1]:
            raise ValueError(f"{rows} rows: the batch buckets hold 1 to {self.batch_buckets[-1]}")
        return self.batch_buckets[bisect_left(self.batch_buckets, rows)]

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """Every captured shape, by length and then by batch, shortest and narrowest first."""
        return tuple(
            Shape(batch, length)
            for length in self.length_buckets
            for batch in self.batch_buckets
            if self.is_captured(batch, length)
        )

    def lint(
        self, *, max_batch: int | None = None, max_row_tokens: int | None = None
    ) -> list[Finding]:
        """What is legal but wasteful or unreachable in this grid.

        Args:
            max_batch: the server's own cap on the rows of a forward, if it has one.
            max_row_tokens: the longest row the server admits, if it has a limit.
        """
        return [
            *_lint_ladders(self),
            *_lint_max_batch(self, max_batch),
            *_lint_row_limit(self, max_row_tokens),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The grid as plain JSON values, read back by `from_dict`."""
        return {
            "length_buckets": list(self.length_buckets),
            "batch_buckets": list(self.batch_buckets),
            "token_budget": self.token_budget,
            "long_step": self.long_step,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> BucketGrid:
        """The grid that `to_dict` wrote.

        Raises:
            ValueError: a field is missing, unknown or refused by the grid.
        """
        fields = ("length_buckets", "batch_buckets", "token_budget", "long_step")
        if missing := [name for name in fields if name not in values]:
            raise ValueError(f"grid without {', '.join(missing)}")
        if unknown := sorted(set(values) - set(fields)):
            raise ValueError(f"grid with unknown fields: {', '.join(unknown)}")
        return cls(**values)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> BucketGrid:
        """The grid that the environment asks for; an unset variable keeps its default.

        `DECIDER_T_BUCKETS` and `DECIDER_B_BUCKETS` are whole numbers separated by spaces or
        commas, `DECIDER_GRAPH_TOKEN_BUDGET` is one.

        Raises:
            ValueError: a value is unreadable or refused; the message names the variable.
        """
        environ = os.environ if environ is None else environ
        fields = {
            LENGTH_VARIABLE: ("length_buckets", _ladder_from_text),
            BATCH_VARIABLE: ("batch_buckets", _ladder_from_text),
            BUDGET_VARIABLE: ("token_budget", _whole_from_text),
        }
        values: dict[str, Any] = {}
        for variable, (field, read) in fields.items():
            if variable not in environ:
                continue
            try:
                values[field] = read(field, environ[variable])
            except ValueError as error:
                raise ValueError(f"{variable}={environ[variable]!r}: {error}") from None
        return cls(**values)


def _checked_whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, not {value!r}")
    return int(value)


def _checked_ladder(name: str, values: Iterable[Any]) -> tuple[int, ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a sequence of whole numbers, not {values!r}")
    ladder = tuple(_checked_whole(name, value) for value in values)
    if not ladder:
        raise ValueError(f"{name} must hold at least one bucket")
    for low, high in pairwise(ladder):
        if high == low:
            raise ValueError(f"{name} holds {high} twice")
        if high < low:
            raise ValueError(f"{name} must rise: {high} stands after {low}")
    return ladder


def _whole_from_text(name: str, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise ValueError(f"{name} must be a whole number, not {text!r}") from None
    return _checked_whole(name, value)


def _ladder_from_text(name: str, text: str) -> tuple[int, ...]:
    words = text.replace(",", " ").split()
    return _checked_ladder(name, [_whole_from_text(name, word) for word in words])


def _lint_ladders(grid: BucketGrid) -> list[Finding]:
    findings = []
    shortest = grid.length_buckets[0]
    if 1 not in grid.batch_buckets:
        findings.append(
            Finding(
                "no-batch-bucket-1",
                f"no batch bucket 1: a single row runs as {grid.batch_buckets[0]}, and pays for it",
            )
        )
        bare = [t for t in grid.length_buckets if grid.batch_buckets[0] * t > grid.token_budget]
        if bare:
            findings.append(
                Finding(
                    "length-without-shape",
                    f"no shape is captured at {_listed(bare)} tokens: the narrowest batch bucket "
                    f"{grid.batch_buckets[0]} is over the token budget {grid.token_budget} there",
                )
            )
    never = [b for b in grid.batch_buckets if not grid.is_captured(b, shortest)]
    if never:
        findings.append(
            Finding(
                "batch-bucket-over-budget",
                f"batch bucket {_listed(never)} is captured at no length: even {shortest} tokens a "
                f"row are over the token budget {grid.token_budget}",
            )
        )
    return findings


def _lint_max_batch(grid: BucketGrid, max_batch: int | None) -> list[Finding]:
    if max_batch is None:
        return []
    max_batch = _checked_whole("max_batch", max_batch)
    widest = grid.batch_buckets[-1]
    if max_batch > widest:
        message = f"the server's maximum {max_batch} is above the widest batch bucket {widest}"
        return [Finding("max-batch-above-ladder", f"{message}: no forward takes more than that")]
    findings = []
    used = grid.batch_bucket(max_batch)
    if used != max_batch:
        findings.append(
            Finding(
                "max-batch-off-ladder",
                f"the server's maximum {max_batch} is no batch bucket: its fullest forward "
                f"runs {used} rows wide, {used - max_batch} of them empty",
            )
        )
    if idle := [shape for shape in grid.shapes if shape.batch > used]:
        findings.append(
            Finding(
                "unreachable-batch",
                f"{len(idle)} captured shapes are wider than the server's maximum {max_batch}: no "
                f"queue can use batch bucket {_listed(sorted({s.batch for s in idle}))}",
            )
        )
    return findings


def _lint_row_limit(grid: BucketGrid, max_row_tokens: int | None) -> list[Finding]:
    if max_row_tokens is None:
        return []
    longest = grid.pad_len(max_row_tokens)
    if idle := [shape for shape in grid.shapes if shape.length > longest]:
        return [
            Finding(
                "unreachable-length",
                f"{len(idle)} captured shapes are longer than any admitted row of at most "
                f"{max_row_tokens} tokens: no queue can use length bucket "
                f"{_listed(sorted({s.length for s in idle}))}",
            )
        ]
    return []


def _listed(values: Sequence[int]) -> str:
    return ", ".join(str(value) for value in values)


CPU_GRID = BucketGrid(
    length_buckets=tuple(t for t in DEFAULT_LENGTH_BUCKETS if t <= 1_024), token_budget=4_096
)
"""The default grid without a GPU: what a laptop's CPU runs in a fraction of a second."""
