"""Why a request is not answered. Each error names its limit or its reason; none knows HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class TooLargeError(Exception):
    """A request over one of the limits that are looked at before it is queued.

    Args:
        what: what is too large, such as `row 3`.
        value: how large it is.
        limit: the most that is taken.
        variable: the setting that sets the limit, or what else does.
    """

    def __init__(self, what: str, value: int, limit: int, variable: str) -> None:
        super().__init__(f"{what}: {value} is over the limit of {limit} ({variable})")
        self.limit = limit
        self.variable = variable


class MalformedError(Exception):
    """A request that the model cannot answer; the message names the row and what is wrong."""


class UnavailableError(Exception):
    """Nothing is taken at the moment: the engine is starting, stopping or dead.

    Args:
        reason: why.
        retry_after: whole seconds after which to ask again.
    """

    def __init__(self, reason: str, retry_after: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


class EngineDied(UnavailableError):  # noqa: N818 - the state it reports, not a fault of a caller
    """The engine can run nothing more. Only a new process helps."""


class Overloaded(UnavailableError):  # noqa: N818 - likewise
    """The queue is full.

    Args:
        limit: rows that may wait.
        retry_after: whole seconds in which the rows that wait now should have run.
    """

    def __init__(self, limit: int, retry_after: int) -> None:
        super().__init__(
            f"the queue is full: at most {limit} rows wait (DECIDER_MAX_QUEUE_ROWS); "
            f"try again in {retry_after} s",
            retry_after,
        )
        self.limit = limit


class RowsFailedError(Exception):
    """Some rows of a request failed, each alone; the others were answered.

    Args:
        answers: for each row its answer, or None where it failed.
        failures: why, by the index of the row.
    """

    def __init__(self, answers: Sequence[Any], failures: Mapping[int, str]) -> None:
        listed = "; ".join(f"row {row}: {reason}" for row, reason in sorted(failures.items()))
        super().__init__(f"{len(failures)} of {len(answers)} rows failed: {listed}")
        self.answers = list(answers)
        self.failures = dict(failures)
