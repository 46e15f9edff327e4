"""What a comparison tests, how strictly, and when it looks.

Knows levels and numbers of pairs; no data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Design:
    """The plan of a comparison, fixed before its first pair.

    Attributes:
        margin: relative; a cell whose change is shown to be within it, either way, is unchanged.
        alarm_level: chance that a run in which nothing changed calls any cell regressed or
            improved, over all cells, both directions and all looks.
        equivalence_level: chance that a run calls any cell unchanged that changed by the margin or
            more, over all cells and all looks.
        looks: pairs complete at each planned look.

    Raises:
        ValueError: a value cannot be used; the message names the field and the value.
    """

    margin: float = 0.02
    alarm_level: float = 0.01
    equivalence_level: float = 0.05
    looks: tuple[int, ...] = (10, 14, 20, 28, 40)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.margin) and 0 < self.margin < 1):
            raise ValueError(f"margin must be above 0 and below 1, not {self.margin!r}")
        for name in ("alarm_level", "equivalence_level"):
            level = getattr(self, name)
            if not (math.isfinite(level) and 0 < level < 1):
                raise ValueError(f"{name} must be above 0 and below 1, not {level!r}")
        object.__setattr__(self, "looks", checked_looks("looks", self.looks))
        if not self.looks:
            raise ValueError("looks must hold at least one number of pairs")

    @property
    def log_margin(self) -> float:
        """The margin as a difference of logarithms."""
        return math.log1p(self.margin)

    @property
    def alarm_level_of_a_look(self) -> float:
        """Each look's share of `alarm_level`; that they add up to it needs no assumption."""
        return self.alarm_level / len(self.looks)

    @property
    def equivalence_level_of_a_look(self) -> float:
        """Each look's share of `equivalence_level`."""
        return self.equivalence_level / len(self.looks)

    def check_looks_taken(self, looks_taken: Sequence[int]) -> tuple[int, ...]:
        """The looks that a run took, as whole numbers.

        They need not stand where they were planned: a run whose time is over looks once more, and
        spends the share of the next planned look. There cannot be more of them than planned.

        Raises:
            ValueError: there are more than planned, or they do not rise.
        """
        taken = checked_looks("looks taken", looks_taken)
        if len(taken) > len(self.looks):
            raise ValueError(
                f"{len(taken)} looks taken and {len(self.looks)} planned: each spends a share of "
                "the level, and none is left"
            )
        return taken


def checked_looks(name: str, looks: Sequence[int]) -> tuple[int, ...]:
    """Numbers of pairs as a rising tuple of whole numbers.

    Raises:
        ValueError: one is not a whole number of at least 1, or they do not rise.
    """
    for look in looks:
        if isinstance(look, bool) or not isinstance(look, (int, np.integer)) or look < 1:
            raise ValueError(f"{name} must be whole numbers of at least 1, not {look!r}")
    for before, after in pairwise(looks):
        if after <= before:
            raise ValueError(f"{name} must rise: {after} stands after {before}")
    return tuple(int(look) for look in looks)


DEFAULT_DESIGN = Design()
