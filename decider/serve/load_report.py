"""What a load's records say: throughput, latency, whether the run counts, what went wrong.

A run is void when the generator, not the server, was what it measured; then no throughput and no
latency is given. Knows records and numbers; sends nothing and prints nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from decider.serve.answer_check import Tally
from decider.serve.load import Outcome, Records
from decider.serve.percentiles import Percentile, percentiles

SCHEMA = "decider.load/1"

DEFAULT_LATE_MS = 10.0
LATE_SHARE_OF_MEDIAN = 0.1
LATE_REQUESTS_ALLOWED = 0.01
CPU_SHARE_ALLOWED = 0.9

EXIT_GOOD, EXIT_BAD_ANSWERS, EXIT_VOID, EXIT_INTERRUPTED = 0, 1, 3, 130
"""Exit codes of `decider load`; 2 is a wrong call or no server, as everywhere in click."""

Seconds = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Schedule:
    """How well the generator kept to its schedule.

    Attributes:
        allowed_seconds: how late a request may leave.
        late_share: share of the requests that left later.
        lag_p99_seconds, lag_worst_seconds: of all measured requests.
        cpu_share: processor time of the generator's process over elapsed time.
        void: why the run does not count; empty where it does.
    """

    allowed_seconds: float
    late_share: float
    lag_p99_seconds: float
    lag_worst_seconds: float
    cpu_share: float
    void: tuple[str, ...]


@dataclass(frozen=True)
class LoadReport:
    """The summary of one run.

    Requests that were to leave during the warm-up are in `requests` and in the answers' tally, and
    nowhere else.

    Attributes:
        configuration: what was asked for.
        requests: all of them, by outcome.
        errors: how often each message came.
        measured_seconds: from the end of the warm-up until sending ended.
        offered_rows_per_second: rows that were to leave in that time.
        rows_per_second: rows answered in that time; None where the run is void.
        latencies: of answered requests, in seconds from the scheduled arrival; what the sample
            does not support is not there, and nothing where the run is void.
        drain_seconds: from the end of sending until nothing was under way.
        schedule: whether the generator kept it.
        answers: whether each answer was its own row's.
        interrupted: somebody stopped the run early.
    """

    configuration: Mapping[str, Any]
    requests: Mapping[str, int]
    errors: Mapping[str, int]
    measured_seconds: float
    offered_rows_per_second: float
    rows_per_second: float | None
    latencies: tuple[Percentile, ...]
    drain_seconds: float
    schedule: Schedule
    answers: Tally
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """130 interrupted, 1 wrong or missing answers, 3 void, 0 good; refusals are no fault."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        if self.answers.wrong or self.requests["failed"] or self.requests["lost"]:
            return EXIT_BAD_ANSWERS
        return EXIT_VOID if self.schedule.void else EXIT_GOOD

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {"schema": SCHEMA, **asdict(self), "exit_code": self.exit_code}


def load_report(
    records: Records,
    answers: Tally,
    configuration: Mapping[str, Any],
    *,
    warm_up: float = 0.0,
    late_ms: float = DEFAULT_LATE_MS,
    own_process: bool = True,
) -> LoadReport:
    """The summary of a run.

    Void is a run of which more than 1% of the requests left later than `late_ms` or a tenth of the
    median latency, whichever is more; one whose generator, being a process of its own, used more
    than 90% of a processor; and one in which no request was measured.

    Args:
        records: of the run.
        answers: what its answers' check found.
        configuration: what was asked for, for the record.
        warm_up: seconds at the beginning that are not measured.
        late_ms: milliseconds that a request may leave late.
        own_process: the server is another process, so that processor time is the generator's own.
    """
    scheduled, ended = np.array(records.scheduled), np.array(records.ended)
    outcomes = np.frombuffer(records.outcomes, dtype=np.uint8)
    rows = np.array(records.rows)
    measured = scheduled >= warm_up
    answered = outcomes == Outcome.ANSWERED
    # In order of the schedule, as neighbours there resemble each other.
    order = np.argsort(scheduled[measured & answered], kind="stable")
    latencies = (ended - scheduled)[measured & answered][order]
    schedule = _schedule(records, np.array(records.lag)[measured], latencies, late_ms, own_process)
    seconds = max(0.0, records.seconds - warm_up)
    in_time = answered & (ended >= warm_up) & (ended <= records.seconds)
    return LoadReport(
        configuration=configuration,
        requests={one.name.lower(): int((outcomes == one).sum()) for one in Outcome},
        errors=dict(records.errors.most_common()),
        measured_seconds=seconds,
        offered_rows_per_second=_rate(rows[measured], seconds),
        rows_per_second=None if schedule.void else _rate(rows[in_time], seconds),
        latencies=() if schedule.void else tuple(percentiles(latencies)),
        drain_seconds=max(0.0, float(ended.max()) - records.seconds) if len(ended) else 0.0,
        schedule=schedule,
        answers=answers,
        interrupted=records.interrupted,
    )


def _schedule(
    records: Records, lag: Seconds, latencies: Seconds, late_ms: float, own_process: bool
) -> Schedule:
    median = float(np.median(latencies)) if len(latencies) else 0.0
    allowed = max(late_ms / 1000, LATE_SHARE_OF_MEDIAN * median)
    late = float((lag > allowed).mean()) if len(lag) else 0.0
    void = []
    if not len(lag):
        void.append("no request was measured: the warm-up is as long as the run")
    if late > LATE_REQUESTS_ALLOWED:
        void.append(
            f"{late:.1%} of the requests left more than {allowed * 1000:.3g} ms late, over "
            f"{LATE_REQUESTS_ALLOWED:.0%}: lower the rate, or send from a faster or quieter machine"
        )
    if own_process and records.cpu_share > CPU_SHARE_ALLOWED:
        void.append(
            f"the generator used {records.cpu_share:.0%} of a processor, over "
            f"{CPU_SHARE_ALLOWED:.0%}: run several at a lower rate each"
        )
    return Schedule(
        allowed_seconds=allowed,
        late_share=late,
        lag_p99_seconds=float(np.quantile(lag, 0.99)) if len(lag) else 0.0,
        lag_worst_seconds=float(lag.max()) if len(lag) else 0.0,
        cpu_share=records.cpu_share,
        void=tuple(void),
    )


def _rate(rows: npt.NDArray[np.int64], seconds: float) -> float:
    return float(rows.sum()) / seconds if seconds else 0.0
