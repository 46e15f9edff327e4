"""Rows and their slots, and what makes one bad.

A row is refused here, by name, before anything runs. This file knows no grid, no backend and no
torch.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MIN_OPTIONS = 2

Integers = npt.NDArray[np.int64]


class Slot(NamedTuple):
    """A question put to a row: read the hidden state at token index `position`.

    The answer is a probability for each of the first `options` outputs of the readout.
    """

    position: int
    options: int


class Row(NamedTuple):
    """One token sequence to score, and its slots."""

    tokens: Sequence[int]
    slots: Sequence[Slot]


@dataclass(frozen=True)
class Limits:
    """What a model takes: its vocabulary, options a slot, slots a row and tokens a row."""

    vocabulary_size: int
    max_options: int
    max_slots: int
    max_row_tokens: int


@dataclass(frozen=True)
class CheckedRow:
    """A row found good: its tokens, and position and options of each slot, as int64 arrays."""

    tokens: Integers
    positions: Integers
    options: Integers


def checked_row(row: Row, limits: Limits) -> CheckedRow:
    """The row as arrays.

    Raises:
        ValueError: no tokens or more than the model takes, a token that is no whole number or
            outside the vocabulary, no slots or too many, a slot outside the row, or a number of
            options that the readout does not have. The message names the token or slot.
    """
    tokens, slots = row
    array = _checked_tokens(tokens, limits)
    return CheckedRow(array, *_checked_slots(slots, len(array), limits))


def _checked_tokens(tokens: Sequence[int], limits: Limits) -> Integers:
    try:
        array = np.asarray(tokens)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"tokens are no sequence of whole numbers: {error}") from None
    if array.ndim != 1:
        raise ValueError(f"tokens must be one-dimensional, not of shape {array.shape}")
    if array.size == 0:
        raise ValueError("no tokens: a row needs at least one")
    if array.size > limits.max_row_tokens:
        raise ValueError(f"{array.size} tokens: the model takes at most {limits.max_row_tokens}")
    if array.dtype.kind not in "iu":
        raise ValueError(_first_bad_token(tokens, array, limits))
    if array.min() < 0 or array.max() >= limits.vocabulary_size:
        index = int(np.argmax((array < 0) | (array >= limits.vocabulary_size)))
        raise ValueError(_out_of_vocabulary(array[index], index, limits))
    return array.astype(np.int64, copy=False)


def _first_bad_token(tokens: Sequence[int], array: npt.NDArray[np.generic], limits: Limits) -> str:
    # A list keeps the values as they were given; the array may have made floats of large ones.
    for index, token in enumerate(tokens if isinstance(tokens, (list, tuple)) else array.tolist()):
        if isinstance(token, bool) or not isinstance(token, Integral):
            return f"token {token!r} at index {index} is no whole number"
        if not 0 <= int(token) < limits.vocabulary_size:
            return _out_of_vocabulary(token, index, limits)
    return f"tokens of type {array.dtype}: give whole numbers"


def _out_of_vocabulary(token: object, index: int, limits: Limits) -> str:
    return f"token {token} at index {index} is outside the vocabulary of {limits.vocabulary_size}"


def _checked_slots(slots: Sequence[Slot], tokens: int, limits: Limits) -> tuple[Integers, Integers]:
    if len(slots) == 0:
        raise ValueError("no slots: a row without one has nothing to answer")
    if len(slots) > limits.max_slots:
        raise ValueError(f"{len(slots)} slots: a row holds at most {limits.max_slots}")
    pairs = np.empty((2, len(slots)), dtype=np.int64)
    for index, slot in enumerate(slots):
        try:
            position, options = (operator.index(value) for value in slot)
        except (TypeError, ValueError):
            raise ValueError(
                f"slot {index}: {slot!r} is no pair of whole numbers (position, options)"
            ) from None
        if not 0 <= position < tokens:
            raise ValueError(f"slot {index}: position {position} is outside {tokens} tokens")
        if not MIN_OPTIONS <= options <= limits.max_options:
            raise ValueError(
                f"slot {index}: {options} options; the readout gives {MIN_OPTIONS} to "
                f"{limits.max_options}"
            )
        pairs[:, index] = position, options
    return pairs[0], pairs[1]
