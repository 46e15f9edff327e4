"""The HTTP app in process: what each route answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx

from decider.engine import Row
from decider.serve.app import create_app
from decider.serve.settings import Settings
from decider.serve.statistics import Statistics
from decider.serve.text import ByteTokenizer
from tests.serve.fakes import POISON, FakeEngine, answer, batcher, row

ROW = {"tokens": [7, 0, 0], "slots": [{"position": 2, "options": 3}]}
QUESTIONS = [
    {"type": "yes_no", "text": "Is it?"},
    {"type": "choice", "text": "Which?", "options": ["red", "blue", "green"]},
    {"type": "scale", "text": "How much?", "levels": 5},
]


class Answering:
    """A batcher that answers at once, or raises what it is given."""

    def __init__(self, engine: FakeEngine, error: Exception | None = None) -> None:
        self.stats = Statistics()
        self.queued_rows = 0
        self.reason = None if error is None else str(error)
        self.healthy = error is None
        self.asked: list[Row] = []
        self._engine = engine
        self._error = error

    async def submit(self, rows: Sequence[Row]) -> list[Any]:
        if self._error is not None:
            raise self._error
        self.asked += rows
        return self._engine.forward(rows, max(len(asked.tokens) for asked in rows))


def app_of(scoring: Any = None, **settings: Any) -> Any:
    engine = FakeEngine()
    engine_and_batcher = engine, scoring or Answering(engine)
    return create_app(
        Settings(**settings), *engine_and_batcher, ByteTokenizer(1_000), cost="a cost"
    )


def request(app: Any, method: str, path: str, **options: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, **options)

    return asyncio.run(send())


def score(app: Any, *rows: Any) -> httpx.Response:
    return request(app, "POST", "/v1/score", json={"rows": list(rows)})


def test_rows_are_scored_in_their_order() -> None:
    rows = [{**ROW, "tokens": [check, 0, 0]} for check in (5, 6, 7)]
    response = score(app_of(), *rows)
    assert response.status_code == 200
    assert response.json() == {"answers": [answer(row(check, 3)) for check in (5, 6, 7)]}


def test_questions_are_asked_in_one_row_and_answered_with_their_options() -> None:
    engine = FakeEngine()
    scoring = Answering(engine)
    body = {"context": "Ünder", "questions": QUESTIONS}
    response = request(app_of(scoring), "POST", "/v1/decide", json=body)
    assert response.status_code == 200
    [asked] = scoring.asked
    expected = answer(asked)
    first, second, third = response.json()["answers"]
    assert list(first["probabilities"]) == ["yes", "no"]
    assert second["probabilities"] == dict(zip(["red", "blue", "green"], expected[1], strict=True))
    assert list(third["probabilities"]) == ["1", "2", "3", "4", "5"]
    for decision in (first, second, third):
        likeliest = max(decision["probabilities"].values())
        assert decision["probabilities"][decision["answer"]] == likeliest
    assert response.json()["tokens"] == len(asked.tokens)


def with_batcher(check: Any, **settings: Any) -> None:
    """Run a check of the app before a real batcher of the fake engine."""

    async def run() -> None:
        engine = FakeEngine()
        async with batcher(engine) as server:
            app = create_app(Settings(**settings), engine, server, ByteTokenizer(1_000))
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                await check(client, server)

    asyncio.run(run())


def test_rows_that_fail_leave_the_others_their_answers() -> None:
    async def check(client: httpx.AsyncClient, _: Any) -> None:
        rows = [ROW, {**ROW, "tokens": [POISON, 0, 0]}]
        response = await client.post("/v1/score", json={"rows": rows})
        assert response.status_code == 500
        body = response.json()
        assert body["answers"] == [answer(row(7, 3)), None]
        assert list(body["failures"]) == ["1"]
        assert "poison" in body["detail"]

    with_batcher(check)


def test_statistics_say_the_same_in_both_formats() -> None:
    async def check(client: httpx.AsyncClient, _: Any) -> None:
        await client.post("/v1/score", json={"rows": [ROW, ROW]})
        await client.post("/v1/score", json={"rows": []})
        stats = (await client.get("/stats")).json()
        assert (stats["rows"], stats["forwards"], stats["healthy"]) == (2, 1, True)
        assert stats["rejections"] == {"malformed": 1}
        assert stats["batch_buckets"] == {"2": 1}
        assert stats["engine"] == {"model": "fake"}
        page = await client.get("/metrics")
        assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
        lines = page.text.splitlines()
        assert "decider_rows_total 2.0" in lines
        assert 'decider_rejections_total{reason="malformed"} 1.0' in lines
        assert 'decider_batch_bucket_forwards_total{batch="2"} 1.0' in lines

    with_batcher(check)


def test_a_client_that_goes_away_takes_its_rows_out_of_the_queue() -> None:
    async def check(client: httpx.AsyncClient, server: Any) -> None:
        app = client._transport.app  # type: ignore[attr-defined]
        body = b'{"rows": [{"tokens": [7], "slots": [{"position": 0, "options": 3}]}]}'
        events = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/score",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
        }

        async def receive() -> Any:
            return events.pop(0) if events else await asyncio.Event().wait()

        async def send(_: Any) -> None:
            pass

        await app(scope, receive, send)
        await asyncio.sleep(0)
        assert server.queued_rows == 0
        assert server.stats.cancelled_requests == 1

    with_batcher(check)
