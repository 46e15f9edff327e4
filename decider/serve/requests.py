"""Requests, their rows, and the queue the rows wait in.

Knows arrival order and who is to be told of an answer; knows no planner, no engine and no HTTP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from decider.engine import Row
from decider.serve.errors import RowsFailedError


class Request:
    """Rows that were submitted together and are answered together.

    Args:
        rows: at least one.
        answered: where all answers, in the order of the rows, or one exception go.
        arrived: seconds, by the clock of the event loop.
    """

    __slots__ = ("answered", "answers", "arrived", "failures", "missing", "rows")

    def __init__(
        self, rows: Sequence[Row], answered: asyncio.Future[list[Any]], arrived: float
    ) -> None:
        self.answered = answered
        self.arrived = arrived
        self.answers: list[Any] = [None] * len(rows)
        self.failures: dict[int, str] = {}
        self.missing = len(rows)
        self.rows = [WaitingRow(self, index, row) for index, row in enumerate(rows)]

    @property
    def live(self) -> bool:
        """Whether somebody still waits for the answer."""
        return not self.answered.done()

    def answer(self, index: int, answer: Any) -> bool:
        """Keep the answer of one row; true when that ended the request."""
        self.answers[index] = answer
        return self._count_down()

    def fail_row(self, index: int, reason: str) -> bool:
        """Keep the failure of one row; true when that ended the request."""
        self.failures[index] = reason
        return self._count_down()

    def fail(self, error: Exception) -> bool:
        """End the request with an error, unless it has ended; true when that ended it."""
        if not self.live:
            return False
        self.answered.set_exception(error)
        return True

    def _count_down(self) -> bool:
        self.missing -= 1
        if self.missing or not self.live:
            return False
        if self.failures:
            self.answered.set_exception(RowsFailedError(self.answers, self.failures))
        else:
            self.answered.set_result(self.answers)
        return True


class WaitingRow:
    """One row of a request: its place there and its length in tokens."""

    __slots__ = ("index", "length", "request", "row")

    def __init__(self, request: Request, index: int, row: Row) -> None:
        self.request = request
        self.index = index
        self.row = row
        self.length = len(row.tokens)


class RowQueue:
    """Rows in arrival order. A row leaves from anywhere in constant time."""

    def __init__(self) -> None:
        self._rows: dict[WaitingRow, None] = {}  # a dict keeps the order and forgets in O(1)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[WaitingRow]:
        return iter(self._rows)

    def join(self, rows: Sequence[WaitingRow]) -> None:
        """Put rows behind all that wait."""
        self._rows.update(dict.fromkeys(rows))

    def leave(self, rows: Sequence[WaitingRow]) -> int:
        """Take rows out, wherever they stand; returns how many of them were still waiting."""
        before = len(self._rows)
        for row in rows:
            self._rows.pop(row, None)
        return before - len(self._rows)

    def oldest(self, count: int) -> list[WaitingRow]:
        """The first `count` rows, or all there are."""
        return list(islice(self._rows, count))

    def holds_several_requests(self) -> bool:
        """Whether rows of more than one request wait."""
        first = next(iter(self._rows), None)
        return first is not None and any(row.request is not first.request for row in self._rows)
