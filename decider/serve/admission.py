"""What is looked at before a request is queued: its size, and whether the model can answer it.

Knows limits and rows; knows no queue and no HTTP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from decider.engine import Row, Slot
from decider.serve.errors import MalformedError, TooLargeError
from decider.serve.settings import Settings, variable


class Checking(Protocol):
    """What admission asks of an engine."""

    def check(self, row: Row) -> None:
        """Raise a ValueError that says why the model cannot answer the row."""
        ...


@dataclass(frozen=True)
class Admission:
    """Admits the rows of one request, or says what is wrong with them.

    Args:
        engine: checks each row.
        max_rows: of a request.
        max_row_tokens: of a row.
        max_request_tokens: of all rows of a request.
    """

    engine: Checking
    max_rows: int
    max_row_tokens: int
    max_request_tokens: int

    @classmethod
    def from_settings(cls, settings: Settings, engine: Checking) -> Admission:
        """The limits that the settings hold."""
        return cls(engine, settings.max_rows, settings.max_row_tokens, settings.max_request_tokens)

    def admit(self, rows: Sequence[Row]) -> list[Row]:
        """The rows as they are to be queued: with tokens in an array, which is smaller than a list.

        Raises:
            TooLargeError: a limit is exceeded.
            MalformedError: no rows, or one that the model cannot answer.
        """
        if not rows:
            raise MalformedError("no rows: a request needs at least one")
        self._check_size([len(row.tokens) for row in rows])
        return [self._checked(index, row) for index, row in enumerate(rows)]

    def _check_size(self, lengths: Sequence[int]) -> None:
        if len(lengths) > self.max_rows:
            raise TooLargeError("rows", len(lengths), self.max_rows, variable("max_rows"))
        for index, tokens in enumerate(lengths):
            if tokens > self.max_row_tokens:
                raise TooLargeError(
                    f"tokens of row {index}",
                    tokens,
                    self.max_row_tokens,
                    variable("max_row_tokens"),
                )
        if sum(lengths) > self.max_request_tokens:
            raise TooLargeError(
                "tokens of the request",
                sum(lengths),
                self.max_request_tokens,
                variable("max_request_tokens"),
            )

    def _checked(self, index: int, row: Row) -> Row:
        try:
            self.engine.check(row)
        except ValueError as error:
            raise MalformedError(f"row {index}: {error}") from None
        slots = tuple(Slot(*slot) for slot in row.slots)
        return Row(np.asarray(row.tokens, dtype=np.int64), slots)  # type: ignore[arg-type]
