from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from decider.serve.guard import Guard
from tests.serve.virtual_time import run_in_virtual_time

MAX_BYTES = 10


class Exchange:
    """One request: what the client sends, and when, and what it gets."""

    def __init__(self, *events: tuple[float, dict[str, Any]], **headers: str) -> None:
        self._events = list(events)
        self.scope = {
            "type": "http",
            "method": "POST",
            "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
        }
        self.sent: list[Any] = []

    async def receive(self) -> Any:
        if not self._events:
            await asyncio.Event().wait()
        pause, event = self._events.pop(0)
        await asyncio.sleep(pause)
        return {"type": "http.request", **event}

    async def send(self, event: Any) -> None:
        self.sent.append(event)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def detail(self) -> str:
        return str(json.loads(self.sent[1]["body"])["detail"])


class App:
    """Reads a whole body and echoes it, after a pause."""

    def __init__(self, pause: float = 0) -> None:
        self.bodies: list[bytes] = []
        self._pause = pause

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.bodies.append((await receive())["body"])
        await asyncio.sleep(self._pause)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def guard(app: App, rejections: Counter[str] | None = None, **options: Any) -> Guard:
    limits = {"max_open_requests": 2, "max_body_bytes": MAX_BYTES, "body_timeout_s": 5, **options}
    return Guard(app, rejections=Counter() if rejections is None else rejections, **limits)


def pieces(*sizes: int, pause: float = 0) -> Sequence[tuple[float, dict[str, Any]]]:
    more = [True] * (len(sizes) - 1) + [False]
    return [
        (pause, {"body": b"x" * size, "more_body": m}) for size, m in zip(sizes, more, strict=True)
    ]


def run(guarded: Guard, *exchanges: Exchange) -> None:
    async def together() -> None:
        await asyncio.gather(*(guarded(x.scope, x.receive, x.send) for x in exchanges))

    run_in_virtual_time(together())


def test_a_body_in_pieces_arrives_whole() -> None:
    app = App()
    exchange = Exchange(*pieces(3, 0, 7))
    run(guard(app), exchange)
    assert exchange.status == 200
    assert app.bodies == [b"x" * MAX_BYTES]


@pytest.mark.parametrize(
    "exchange",
    [
        Exchange(*pieces(MAX_BYTES + 1)),
        Exchange(*pieces(6, 6, 6)),
        Exchange(*pieces(6, 6), **{"content-length": "12"}),
        Exchange(**{"content-length": "12", "expect": "100-continue"}),
        Exchange(**{"content-length": "12"}),  # nothing ever comes
        Exchange(*[(0.1, {"body": b"x", "more_body": True})] * 1_000),  # it never ends
    ],
)
def test_a_body_over_the_limit_is_refused_and_never_seen(exchange: Exchange) -> None:
    app, rejections = App(), Counter[str]()
    run(guard(app, rejections), exchange)
    assert exchange.status == 413
    assert exchange.detail == "the body is over 10 bytes (DECIDER_MAX_BODY_BYTES)"
    assert (app.bodies, rejections) == ([], {"too_large": 1})


def test_a_body_that_comes_too_slowly_is_refused() -> None:
    app, rejections = App(), Counter[str]()
    exchange = Exchange(*pieces(1, 1, 1, pause=2))
    run(guard(app, rejections), exchange)
    assert exchange.status == 408
    assert exchange.detail == "the body took over 5 s (DECIDER_BODY_TIMEOUT_S)"
    assert (app.bodies, rejections) == ([], {"slow_body": 1})


def test_a_client_that_leaves_before_its_body_is_whole_gets_nothing() -> None:
    app = App()
    exchange = Exchange(*pieces(1, 1)[:1], (0, {"type": "http.disconnect"}))
    run(guard(app), exchange)
    assert (app.bodies, exchange.sent) == ([], [])


def test_beyond_the_open_requests_the_next_is_sent_away_and_later_ones_are_not() -> None:
    app, rejections = App(pause=1), Counter[str]()
    guarded = guard(app, rejections)
    exchanges = [Exchange(*pieces(1)) for _ in range(3)]
    run(guarded, *exchanges)
    assert [exchange.status for exchange in exchanges] == [200, 200, 503]
    assert "2 requests are open already (DECIDER_MAX_OPEN_REQUESTS)" in exchanges[2].detail
    assert (b"retry-after", b"1") in exchanges[2].sent[0]["headers"]
    assert rejections == {"open_requests": 1}
    later = Exchange(*pieces(1))
    run(guarded, later)
    assert later.status == 200
