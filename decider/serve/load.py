"""One run of a load against a server: sends on schedule, waits for every answer, keeps the times.

Open loop: requests leave when they are scheduled, whatever has become of the others. Closed loop:
each of k clients sends its next request when it has its answer. In both, latency counts from the
moment the request was to leave, so that a late sender cannot hide a slow server. What is sent is
`traffic`'s, where to `targets`'s, whether the run counts `load_report`'s.
"""

from __future__ import annotations

import asyncio
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import chain, islice

from decider.serve.answer_check import AnswerCheck, SentRow
from decider.serve.targets import RejectedError, Target, TargetError
from decider.serve.traffic import Arrival, RowName, checked_seconds

PROGRESS_S = 0.5
SHORTEST_BACK_OFF_S, LONGEST_BACK_OFF_S = 0.01, 1.0
PAUSE_AFTER_ERROR_S = 0.1
ERRORS_KEPT = 20


class Outcome(IntEnum):
    """What became of a request."""

    ANSWERED = 0
    REJECTED = 1
    """The server said that it was overloaded."""
    FAILED = 2
    """Any other error, or an answer of the wrong size."""
    LOST = 3
    """No answer within the time-out."""
    CUT = 4
    """Under way when the run was interrupted."""


@dataclass(frozen=True)
class OpenLoop:
    """Requests in order of arrival, the last of them before `seconds`."""

    arrivals: Iterable[Arrival]
    seconds: float


@dataclass(frozen=True)
class ClosedLoop:
    """Clients that send one request after the other until `seconds` have passed."""

    clients: int
    rows: Iterator[RowName]
    seconds: float
    rows_per_request: int = 1

    def __post_init__(self) -> None:
        for name in ("clients", "rows_per_request"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)!r}")
        checked_seconds("seconds", self.seconds)


@dataclass
class Records:
    """What happened, a place a request in each column, in the order in which they left.

    Times are in seconds from the start of the run.

    Attributes:
        scheduled: when a request was to leave.
        lag: how much later it left.
        ended: when its answer or error came.
        rows: its rows, a count.
        outcomes: an `Outcome` each.
        errors: how often each message came, the first `ERRORS_KEPT` messages.
        seconds: how long requests were sent.
        cpu_share: processor time of this process over elapsed time while they were.
        interrupted: somebody stopped the run early.
    """

    scheduled: array[float] = field(default_factory=lambda: array("d"))
    lag: array[float] = field(default_factory=lambda: array("d"))
    ended: array[float] = field(default_factory=lambda: array("d"))
    rows: array[int] = field(default_factory=lambda: array("l"))
    outcomes: bytearray = field(default_factory=bytearray)
    errors: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    cpu_share: float = 0.0
    interrupted: bool = False

    def leave(self, scheduled: float, now: float, rows: int) -> int:
        """Enter a request that leaves now; return its place."""
        self.scheduled.append(scheduled)
        self.lag.append(now - scheduled)
        self.ended.append(now)
        self.rows.append(rows)
        self.outcomes.append(Outcome.CUT)
        return len(self.outcomes) - 1

    def end(self, place: int, now: float, outcome: Outcome, error: str = "") -> None:
        """Enter what became of it."""
        self.ended[place] = now
        self.outcomes[place] = outcome
        if error and (error in self.errors or len(self.errors) < ERRORS_KEPT):
            self.errors[error] += 1


@dataclass(frozen=True)
class Progress:
    """How far a run is: seconds passed of all, and requests by outcome (under way: `CUT`)."""

    elapsed: float
    seconds: float
    requests: Counter[Outcome]


class Load:
    """Runs loads against one target.

    Args:
        target: where requests go.
        check: makes the rows and judges the answers.
        timeout: seconds from its leaving after which a request is given up as lost.
        clock: seconds, rising.
        progress: called about twice a second while a load runs.

    Raises:
        ValueError: `timeout` is not a finite number above 0.
    """

    def __init__(
        self,
        target: Target,
        check: AnswerCheck,
        *,
        timeout: float = 30.0,
        clock: Callable[[], float] = time.perf_counter,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self._target = target
        self._check = check
        self._timeout = checked_seconds("timeout", timeout)
        self._clock = clock
        self._progress = progress
        self._records = Records()
        self._start = 0.0

    async def run(self, loop: OpenLoop | ClosedLoop) -> Records:
        """Send everything and wait until each request has an answer, an error or its time-out.

        A cancellation, which is what an interrupt from the keyboard becomes, ends the run early:
        what happened until then is returned.
        """
        if isinstance(loop, OpenLoop):
            loop = _primed(loop)
        self._records = Records()
        self._start, cpu = self._clock(), time.process_time()
        ticker = asyncio.create_task(self._tick(loop.seconds))
        try:
            async with asyncio.TaskGroup() as under_way:
                if isinstance(loop, OpenLoop):
                    await self._send_on_schedule(loop, under_way)
                else:
                    await self._send_from_clients(loop, under_way)
                self._stop_sending(loop.seconds, cpu)
        except asyncio.CancelledError:
            self._stop_sending(loop.seconds, cpu)
            self._records.interrupted = True
            _uncancel()
        except ExceptionGroup as group:  # such as a trace with a malformed row
            raise group.exceptions[0] from None
        finally:
            ticker.cancel()
        return self._records

    async def _send_on_schedule(self, loop: OpenLoop, under_way: asyncio.TaskGroup) -> None:
        for at, names in loop.arrivals:
            sent = [self._check.row(name) for name in names]
            await asyncio.sleep(max(0.0, at - self._now()))
            under_way.create_task(self._request(at, sent))
        await asyncio.sleep(max(0.0, loop.seconds - self._now()))

    async def _send_from_clients(self, loop: ClosedLoop, under_way: asyncio.TaskGroup) -> None:
        for _ in range(loop.clients):
            under_way.create_task(self._client(loop))
        await asyncio.sleep(loop.seconds)

    async def _client(self, loop: ClosedLoop) -> None:
        while (ready := self._now()) < loop.seconds:
            names = islice(loop.rows, loop.rows_per_request)
            back_off = await self._request(ready, [self._check.row(name) for name in names])
            if back_off:
                await asyncio.sleep(back_off)

    def _stop_sending(self, planned: float, cpu: float) -> None:
        elapsed = self._now()
        self._records.seconds = min(elapsed, planned)
        self._records.cpu_share = (time.process_time() - cpu) / max(elapsed, 1e-9)

    async def _request(self, scheduled: float, sent: list[SentRow]) -> float:
        """Send one request and enter its end; return the seconds to wait before another."""
        now = self._now()
        place = self._records.leave(scheduled, now, len(sent))
        back_off = 0.0
        outcome, error = Outcome.ANSWERED, ""
        try:
            async with asyncio.timeout(self._timeout):
                answers = await self._target.score([row for _, row in sent])
            if len(answers) != len(sent):
                raise TargetError(f"{len(answers)} answers to {len(sent)} rows")
            for row, answer in zip(sent, answers, strict=True):
                self._check.see(row, answer)
        except TimeoutError:
            outcome, error = Outcome.LOST, f"no answer within {self._timeout:g} s"
        except RejectedError as rejected:
            outcome, error = Outcome.REJECTED, str(rejected)
            back_off = min(max(rejected.retry_after, SHORTEST_BACK_OFF_S), LONGEST_BACK_OFF_S)
        except TargetError as failed:
            outcome, error = Outcome.FAILED, str(failed)
            back_off = PAUSE_AFTER_ERROR_S
        self._records.end(place, self._now(), outcome, error)
        return back_off

    async def _tick(self, seconds: float) -> None:
        while True:
            await asyncio.sleep(PROGRESS_S)
            counts = Counter(self._records.outcomes)
            requests = Counter({Outcome(value): count for value, count in counts.items()})
            self._progress(Progress(self._now(), seconds, requests))

    def _now(self) -> float:
        return self._clock() - self._start


def _primed(loop: OpenLoop) -> OpenLoop:
    """The same with its first arrival at hand: a trace reads much before it gives one."""
    arrivals = iter(loop.arrivals)
    first = list(islice(arrivals, 1))
    return OpenLoop(chain(first, arrivals), loop.seconds)


def _uncancel() -> None:
    """Let this task go on waiting for things after it was cancelled."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
