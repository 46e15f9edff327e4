"""A server at more than its capacity: `python -m tests.serve.soak`, for minutes, so it is no test.

A server process with the real `tiny` engine gets Poisson arrivals at a multiple of the throughput
that another one was first seen to have. Every row's answer is known beforehand, from asking for it
alone. At the end the load stops, and a new request shows how fast the server recovers; so the queue
holds what the server does in a quarter of a second, and no forward is long.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import numpy.typing as npt

from decider.workloads import row_lengths
from tests.serve.served import ServerProcess

TOLERANCE = 1e-5
OPTIONS = 8
DISTINCT_ROWS = 300
LONGEST_ROW = 256
GRID = {"DECIDER_T_BUCKETS": "64 128 192 256", "DECIDER_GRAPH_TOKEN_BUDGET": "1024"}
QUEUE_SECONDS = 0.25
CAPACITY_SECONDS = 20.0
CLIENTS = 64
ABANDONED_SHARE = 0.05
HANGING_SECONDS = 60
LATE_SECONDS = 1.0
MEMORY_SETTLED_AFTER = 0.25
GROWTH_ALLOWED = 0.1


class Reply(NamedTuple):
    """What a server said."""

    status: int
    headers: str
    body: Any


class Soak:
    """Requests to one server, and what came of them.

    A connection for each request: pools of a few hundred connections cost a client more than the
    requests do.
    """

    def __init__(self, url: str, seed: int) -> None:
        self.outcomes: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.expected: list[npt.NDArray[np.float64]] = []
        self._host, _, port = url.removeprefix("http://").partition(":")
        self._port = int(port)
        self.generator = np.random.default_rng(seed)
        lengths = row_lengths("short", DISTINCT_ROWS, seed, longest=LONGEST_ROW)
        self._bodies = [self._body(int(length)) for length in lengths]

    def _body(self, length: int) -> bytes:
        tokens = self.generator.integers(0, 1_024, length).tolist()
        slot = {"position": length - 1, "options": OPTIONS}
        return json.dumps({"rows": [{"tokens": tokens, "slots": [slot]}]}).encode()

    async def send(self, method: str, path: str, body: bytes = b"") -> Reply:
        """One request on a connection of its own."""
        reader, writer = await asyncio.open_connection(self._host, self._port)
        try:
            writer.write(
                f"{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
                f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
            )
            writer.write(body)
            head, _, content = (await reader.read()).partition(b"\r\n\r\n")
        finally:
            writer.close()
        status = int(head.split(b" ", 2)[1])
        return Reply(status, head.decode().lower(), json.loads(content))

    async def score(self, which: int) -> Reply:
        """Ask for one of the rows."""
        return await self.send("POST", "/v1/score", self._bodies[which])

    async def learn(self) -> None:
        """Ask for each row alone, and make sure that no two answers are alike."""
        for which in range(DISTINCT_ROWS):
            self.expected.append(_probabilities(await self.score(which)))
        answers = np.array(self.expected)
        apart = np.abs(answers[:, None] - answers[None]).max(axis=2)
        np.fill_diagonal(apart, 1)
        assert apart.min() > 2 * TOLERANCE, "two rows have the same answer: choose another seed"

    async def ask(self, which: int, patience: float = HANGING_SECONDS) -> None:
        """One request, its answer checked; given up when patience ends."""
        try:
            reply = await asyncio.wait_for(self.score(which), patience)
        except TimeoutError:
            self.outcomes["abandoned" if patience < HANGING_SECONDS else "HANGING"] += 1
        except (OSError, IndexError, ValueError) as error:
            self.outcomes[f"FAILED {type(error).__name__}"] += 1
        else:
            self.outcomes[str(reply.status)] += 1
            self._check(which, reply)

    def _check(self, which: int, reply: Reply) -> None:
        if reply.status == 200:
            answer = _probabilities(reply)
            if np.abs(answer - self.expected[which]).max() > TOLERANCE:
                self.wrong.append(f"row {which}: {answer} is not {self.expected[which]}")
        elif reply.status == 503 and "\r\nretry-after: " not in reply.headers:
            self.wrong.append("a 503 without a time to come back")

    async def capacity(self, seconds: float) -> float:
        """Rows a second with clients that each ask again when they are answered."""
        until = time.monotonic() + seconds

        async def client(first: int) -> None:
            which = first
            while time.monotonic() < until:
                await self.ask(which % DISTINCT_ROWS)
                which += CLIENTS

        await asyncio.gather(*(client(first) for first in range(CLIENTS)))
        return self.outcomes["200"] / seconds

    async def overload(self, rate: float, seconds: float) -> list[asyncio.Task[None]]:
        """Poisson arrivals, some of them impatient; returns the requests, ended or not."""
        loop = asyncio.get_running_loop()
        began = due = loop.time()
        asked = []
        while (due := due + self.generator.exponential(1 / rate)) < began + seconds:
            await asyncio.sleep(max(0, due - loop.time()))
            if loop.time() - due > LATE_SECONDS:
                raise click.ClickException("the client is too slow for its own schedule: no result")
            patience = HANGING_SECONDS
            if self.generator.random() < ABANDONED_SHARE:
                patience = float(self.generator.uniform(0, 0.5))
            which = int(self.generator.integers(DISTINCT_ROWS))
            asked.append(asyncio.create_task(self.ask(which, patience)))
        return asked


def _probabilities(reply: Reply) -> npt.NDArray[np.float64]:
    return np.array(reply.body["answers"][0][0])


def resident_bytes(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    [line] = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) * 1_024


async def watch_memory(process: int, samples: list[int]) -> None:
    while True:
        samples.append(resident_bytes(process))
        await asyncio.sleep(1)


async def capacity(server: ServerProcess, seed: int) -> float:
    soak = Soak(server.url, seed)
    await soak.learn()
    return await soak.capacity(CAPACITY_SECONDS)


async def run(server: ServerProcess, rate: float, seconds: float, seed: int) -> bool:
    memory: list[int] = []
    soak = Soak(server.url, seed)
    await soak.learn()
    watching = asyncio.create_task(watch_memory(server.process.pid, memory))
    asked = await soak.overload(rate, seconds)
    began = time.monotonic()
    queued = (await soak.send("GET", "/stats")).body["queued_rows"]
    # With its queue still full the server may refuse: then it has not recovered yet.
    while (await soak.score(0)).status != 200:
        await asyncio.sleep(0.01)
    recovery = time.monotonic() - began
    await asyncio.gather(*asked)
    watching.cancel()
    stats = (await soak.send("GET", "/stats")).body
    settled = memory[int(len(memory) * MEMORY_SETTLED_AFTER) :]
    growth = max(settled[-10:]) / max(settled[:10]) - 1
    ended = sum(stats[f"{end}_requests"] for end in ("answered", "failed", "cancelled"))
    problems = [
        *soak.wrong[:5],
        *(name for name in soak.outcomes if name not in ("200", "503", "abandoned")),
        *([] if soak.outcomes["503"] else ["nothing was refused: no overload"]),
        *([] if sum(soak.outcomes.values()) == len(asked) else ["an answer was lost"]),
        *([] if ended == stats["requests"] else ["an admitted request never ended"]),
        *([] if recovery < 1 else [f"recovery took {recovery:.1f} s"]),
        *([] if growth < GROWTH_ALLOWED else [f"memory grew by {growth:.0%}"]),
    ]
    click.echo(f"offered: {len(asked)} requests in {seconds:g} s")
    click.echo(f"outcomes: {dict(soak.outcomes)}; wrong answers: {len(soak.wrong)}")
    click.echo(f"queued when the load ended: {queued}; a new request then took {recovery:.2f} s")
    click.echo(
        f"memory: {settled[0] / 2**20:.0f} MiB after {MEMORY_SETTLED_AFTER:.0%} of the time, "
        f"{settled[-1] / 2**20:.0f} MiB at the end"
    )
    click.echo("problems: " + ("; ".join(problems) or "none"))
    return not problems


@click.command()
@click.option("--seconds", default=120.0, show_default=True, help="How long to overload.")
@click.option("--factor", default=1.3, show_default=True, help="Times the measured capacity.")
@click.option("--seed", default=0, show_default=True, help="Of rows and arrivals.")
def main(seconds: float, factor: float, seed: int) -> None:
    """Overload a server and see that it refuses, forgets nothing and recovers."""
    with ServerProcess(**GRID) as server:
        able = asyncio.run(capacity(server, seed))
    rows = str(max(1, round(able * QUEUE_SECONDS)))
    click.echo(f"capacity: {able:.0f} rows/s with {CLIENTS} clients; the queue holds {rows} rows")
    limits = {"DECIDER_MAX_QUEUE_ROWS": rows, "DECIDER_MAX_ROWS": rows}
    with ServerProcess(**GRID, **limits) as server:
        good = asyncio.run(run(server, able * factor, seconds, seed))
        status = server.terminate()
        click.echo(server.lines[-1])
    sys.exit(0 if good and status == 0 else 1)


if __name__ == "__main__":
    main()
