"""A real server process: what it prints, what bad clients are told, and how it ends."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import socket
from collections import Counter
from collections.abc import Iterator

import httpx
import numpy as np
import pytest

from tests.serve.served import ServerProcess

TOLERANCE = 1e-5
LIMITS = {
    "DECIDER_HEADER_TIMEOUT_S": "0.5",
    "DECIDER_BODY_TIMEOUT_S": "0.5",
    "DECIDER_MAX_BODY_BYTES": "100000",
}
HEAD = b"POST /v1/score HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    with ServerProcess(**LIMITS) as process:
        yield process


def scored(seed: int) -> dict[str, object]:
    generator = np.random.default_rng(seed)
    length = int(generator.integers(1, 120))
    tokens = generator.integers(0, 1_024, length).tolist()
    return {"rows": [{"tokens": tokens, "slots": [{"position": length - 1, "options": 4}]}]}


def exchange(server: ServerProcess, *parts: bytes, end: bool = False) -> bytes:
    """Send the parts on a new connection and read until it is closed."""
    received = b""
    with server.connect() as connection:
        for part in parts:
            connection.sendall(part)
        if end:
            connection.shutdown(socket.SHUT_WR)
        while chunk := connection.recv(65_536):
            received += chunk
    return received


def test_it_says_what_it_runs_what_it_costs_and_how_to_ask(server: ServerProcess) -> None:
    text = "\n".join(server.lines)
    assert "model: tiny, float32" in text
    assert re.search(r"cost: .*measured", text)
    assert "grid finding unreachable-batch" not in text
    _, *words = shlex.split(server.lines[-1])
    body = json.loads(words[words.index("-d") + 1])
    url = next(word for word in words if word.startswith("http"))
    response = httpx.post(url, json=body)
    assert response.status_code == 200
    assert set(response.json()["answers"][0]["probabilities"]) == {"yes", "no"}


def test_rows_asked_together_are_answered_as_each_alone(server: ServerProcess) -> None:
    async def check() -> None:
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
            alone = [await client.post("/v1/score", json=scored(seed)) for seed in range(24)]
            together = await asyncio.gather(
                *(client.post("/v1/score", json=scored(seed)) for seed in range(24))
            )
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_allclose(
                one.json()["answers"], other.json()["answers"], rtol=0, atol=TOLERANCE
            )

    asyncio.run(check())


@pytest.mark.parametrize(
    ("parts", "end", "status", "sentence"),
    [
        ((b"POST /v1/score HT",), False, b"408", b"DECIDER_HEADER_TIMEOUT_S"),
        ((), False, b"408", b"DECIDER_HEADER_TIMEOUT_S"),
        ((HEAD, b"Content-Length: 9\r\n\r\n{"), False, b"408", b"DECIDER_BODY_TIMEOUT_S"),
        ((HEAD, b"Content-Length: 9\r\n\r\n{"), True, b"400", b"before its announced length"),
        ((HEAD, b"Content-Length: 2\r\n\r\n{]"), False, b"422", b"Invalid JSON"),
        ((HEAD, b"Content-Length: x\r\n\r\n{"), False, b"400", b"Invalid HTTP"),
        ((HEAD, b"Content-Length: 999999\r\n\r\n"), False, b"413", b"DECIDER_MAX_BODY_BYTES"),
        (
            (HEAD, b"Content-Length: 999999\r\nExpect: 100-continue\r\n\r\n"),
            False,
            b"413",
            b"DECIDER_MAX_BODY_BYTES",
        ),
        (
            (
                HEAD,
                b"Transfer-Encoding: chunked\r\n\r\n",
                *[b"4000\r\n" + b"x" * 16_384 + b"\r\n"] * 9,
            ),
            False,
            b"413",
            b"DECIDER_MAX_BODY_BYTES",
        ),
        ((HEAD + b"X: " + b"y" * 17_000,), False, b"400", b"Invalid HTTP"),
        ((HEAD, b"Transfer-Encoding: chunked\r\n\r\n", b"no size\r\n"), False, b"400", b"HTTP"),
        ((b"\x16\x03\x01 not HTTP at all\r\n\r\n",), False, b"400", b"Invalid HTTP"),
    ],
)
def test_a_bad_client_is_told_and_sent_away(
    server: ServerProcess, parts: tuple[bytes, ...], end: bool, status: bytes, sentence: bytes
) -> None:
    if status == b"422":
        parts = (HEAD.replace(b"Host", b"Connection: close\r\nHost"), *parts[1:])
    received = exchange(server, *parts, end=end)
    assert received.startswith(b"HTTP/1.1 " + status)
    assert sentence in received
    assert httpx.get(f"{server.url}/health").json()["healthy"]


def test_a_client_that_goes_away_is_forgotten(server: ServerProcess) -> None:
    with server.connect() as connection:
        connection.sendall(HEAD + b"Content-Length: 9\r\n\r\n{")
    assert httpx.get(f"{server.url}/stats").json()["queued_rows"] == 0


def test_a_second_server_on_the_same_port_says_so(server: ServerProcess) -> None:
    port = server.url.rsplit(":", 1)[1]
    second = ServerProcess(DECIDER_PORT=port)
    with pytest.raises(RuntimeError, match=f"DECIDER_PORT={port}: cannot listen"), second:
        pass
    assert second.process.returncode == 2


def test_a_sigterm_under_load_answers_all_that_was_admitted() -> None:
    outcomes: Counter[str] = Counter()

    async def ask(client: httpx.AsyncClient, seed: int, loaded: asyncio.Event) -> None:
        while True:
            try:
                response = await client.post("/v1/score", json=scored(seed))
            except httpx.TransportError:
                return  # never admitted
            assert len(response.json()["answers"][0][0]) == 4
            outcomes[str(response.status_code)] += 1
            if outcomes["200"] > 60:
                loaded.set()

    async def load(process: ServerProcess) -> int:
        loaded = asyncio.Event()
        async with httpx.AsyncClient(base_url=process.url, timeout=60) as client:
            clients = [asyncio.create_task(ask(client, seed, loaded)) for seed in range(32)]
            await loaded.wait()
            status = await asyncio.to_thread(process.terminate)
            await asyncio.gather(*clients)
        return status

    with ServerProcess() as process:
        assert asyncio.run(load(process)) == 0
    assert set(outcomes) == {"200"}
    [end] = [line for line in process.lines if line.startswith("stopped:")]
    answered, admitted, failed, cancelled = map(int, re.findall(r"\d+", end))
    assert (answered, failed, cancelled) == (admitted, 0, 0)
    assert answered == outcomes["200"]
