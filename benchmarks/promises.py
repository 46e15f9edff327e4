"""What plans promise before a server delivers: the same rows, priced and replayed.

"Priced" plans each queue once, whole. "Replayed" puts the rows to the batcher in virtual time, with
forwards that take what the machine's own table says: it plans again after each forward, with
what has arrived, but Python and the planner take no time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.policies import PER_BUCKET, policies
from benchmarks.rounds import Key, one_round
from benchmarks.scenarios import LOADS
from benchmarks.serving import length_rows, virtual_server
from benchmarks.virtual_time import run_virtually


@dataclass(frozen=True)
class Promise:
    """Throughput over that of per-bucket grouping."""

    priced: float
    replayed: float


def promises(
    grid: Any,
    milliseconds: Mapping[tuple[int, int], float],
    lengths: Mapping[tuple[str, str], Sequence[int]],
) -> dict[Key, Promise]:
    """What each policy promises, by mix, closed load and policy.

    Args:
        milliseconds: by (batch, length): what policies are derived from and forwards take.
        lengths: rows by mix and load; a queue holds as many as the load has clients.
    """
    compared = policies(grid, milliseconds)
    rows = {key: length_rows(of_load) for key, of_load in lengths.items()}
    replayed = run_virtually(one_round(virtual_server(grid, milliseconds), compared, rows))
    found = {}
    for (mix, load), of_load in lengths.items():
        clients = LOADS[load].clients
        queues = [of_load[first : first + clients] for first in range(0, len(of_load), clients)]
        base = _priced(compared[PER_BUCKET], queues, grid, milliseconds)
        base_run = replayed[mix, load, PER_BUCKET].served
        for name, policy in compared.items():
            found[mix, load, name] = Promise(
                priced=base / _priced(policy, queues, grid, milliseconds),
                replayed=base_run.seconds / replayed[mix, load, name].served.seconds,
            )
    return found


def _priced(
    policy: Any,
    queues: Sequence[Sequence[int]],
    grid: Any,
    milliseconds: Mapping[tuple[int, int], float],
) -> float:
    """Milliseconds that the plans of the queues take, at the shapes that run."""
    total = 0.0
    for queue in queues:
        for length, rows in policy.plan(queue):
            batch, length = policy.cost.shape(len(rows), length)
            total += milliseconds[grid.batch_bucket(batch), length]
    return total
