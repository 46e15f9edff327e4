"""The inputs of one forward, in one flat buffer, so that one copy takes them to the device.

The layout is tokens, then the place of each slot's token, then each slot's options. Rows are padded
on the right with token 0, which a causal model cannot see from a slot; unused slots read the first
token of their row and are thrown away. This file knows no torch: a backend owns the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np

from decider.engine.rows import CheckedRow, Integers
from decider.grid import Shape

PADDING_TOKEN = 0


class Flat(Protocol):
    """What numpy arrays and torch tensors share here."""

    def __getitem__(self, part: slice, /) -> Self: ...

    def reshape(self, rows: int, columns: int, /) -> Self: ...


F = TypeVar("F", bound=Flat)


def flat_size(shape: Shape, slots: int) -> int:
    """Elements of the buffer of one forward with `slots` slots a row."""
    return shape.batch * (shape.length + 2 * slots)


def parts(flat: F, shape: Shape, slots: int) -> tuple[F, F, F]:
    """The buffer seen as tokens (batch, length), places and options (batch, slots each)."""
    tokens, places = shape.batch * shape.length, shape.batch * slots
    return (
        flat[:tokens].reshape(shape.batch, shape.length),
        flat[tokens : tokens + places].reshape(shape.batch, slots),
        flat[tokens + places : tokens + 2 * places].reshape(shape.batch, slots),
    )


@dataclass(frozen=True)
class Inputs:
    """Views into one int64 buffer.

    `places` holds row * length + position: the slot's token in the flattened (batch * length)
    hidden states.
    """

    tokens: Integers
    places: Integers
    options: Integers

    @classmethod
    def over(cls, flat: Integers, shape: Shape, slots: int) -> Inputs:
        """The views of a buffer of at least `flat_size` elements."""
        return cls(*parts(flat, shape, slots))

    def fill(self, rows: Sequence[CheckedRow], unused_options: int) -> None:
        """Write the rows and everything around them, whatever the buffer held before.

        Args:
            rows: at most as many as the batch; each fits the length and the slots.
            unused_options: options of a slot that no row uses; at least 1, so that it gives
                numbers.
        """
        batch, length = self.tokens.shape
        self.tokens.fill(PADDING_TOKEN)
        self.places[:] = np.arange(0, batch * length, length)[:, None]
        self.options.fill(unused_options)
        for index, row in enumerate(rows):
            used = len(row.positions)
            self.tokens[index, : len(row.tokens)] = row.tokens
            self.places[index, :used] += row.positions
            self.options[index, :used] = row.options
