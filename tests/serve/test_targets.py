"""Targets tell an answer, a refusal and a failure apart, and name what went wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from decider.engine.rows import Row, Slot
from decider.serve.errors import EngineDied, Overloaded
from decider.serve.messages import ScoreRequest
from decider.serve.targets import BatcherTarget, HttpTarget, RejectedError, TargetError, score_body

ROWS = [Row([1, 2, 3], (Slot(2, 4),)), Row([7], (Slot(0, 2), Slot(0, 3)))]


def over_http(respond: Callable[[httpx.Request], httpx.Response], call: str = "score") -> Any:
    async def main() -> Any:
        transport = httpx.MockTransport(respond)
        async with HttpTarget("http://server:1/", transport) as target:
            return await (target.score(ROWS) if call == "score" else target.ready())

    return asyncio.run(main())


def in_process(error: Exception | None) -> Any:
    class Submitting:
        async def submit(self, rows: Any) -> Any:
            if error:
                raise error
            return [len(row.tokens) for row in rows]

    return asyncio.run(BatcherTarget(Submitting()).score(ROWS))


def test_rows_go_out_as_the_server_reads_them_and_answers_come_back():
    def respond(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == "http://server:1/v1/score"
        sent = ScoreRequest.model_validate_json(request.content)
        answers = [[[slot.options] for slot in row.slots] for row in sent.rows]
        return httpx.Response(200, json={"answers": answers})

    assert over_http(respond) == [[[4]], [[2], [3]]]


def test_the_body_holds_plain_numbers():
    assert json.loads(json.dumps(score_body(ROWS)))["rows"][0] == {
        "tokens": [1, 2, 3],
        "slots": [{"position": 2, "options": 4}],
    }


@pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("Mon, 30 Nov 2026 22:00:00 GMT", 1)])
def test_503_with_retry_after_is_a_refusal(header, seconds):
    response = httpx.Response(503, json={"detail": "full"}, headers={"retry-after": header})
    with pytest.raises(RejectedError, match="full") as refused:
        over_http(lambda _: response)
    assert refused.value.retry_after == seconds


@pytest.mark.parametrize(
    ("response", "named"),
    [
        (httpx.Response(503, json={"detail": "the engine died"}), "503: the engine died"),
        (httpx.Response(422, json={"detail": [{"loc": 1}]}), '422: \\[{"loc": 1}\\]'),
        (httpx.Response(500, text="x" * 999), "500: x{200}\\.\\.\\.$"),
        (httpx.Response(200, text="hello"), "not an answer to /v1/score: hello"),
        (httpx.Response(200, json=[1]), "not an answer"),
    ],
)
def test_anything_else_is_a_failure_in_the_servers_words(response, named):
    with pytest.raises(TargetError, match=named):
        over_http(lambda _: response)


def test_no_server_says_how_to_start_one():
    async def main() -> None:
        async with HttpTarget("http://127.0.0.1:9") as target:
            await target.ready()

    with pytest.raises(TargetError, match="start one with `decider serve`"):
        asyncio.run(main())


def test_a_connection_that_breaks_is_a_failure():
    def respond(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("reset", request=request)

    with pytest.raises(TargetError, match="ReadError: reset"):
        over_http(respond)


def test_a_server_that_is_not_healthy_is_not_ready():
    over_http(lambda _: httpx.Response(200), call="ready")
    with pytest.raises(TargetError, match="/health: 503"):
        over_http(lambda _: httpx.Response(503, text="starting"), call="ready")


def test_an_address_without_http_is_named():
    with pytest.raises(ValueError, match=r"localhost:8000.*http://"):
        HttpTarget("localhost:8000")


def test_a_batcher_answers_refuses_and_fails():
    assert in_process(None) == [3, 1]
    with pytest.raises(RejectedError, match="queue is full") as refused:
        in_process(Overloaded(4_096, 3))
    assert refused.value.retry_after == 3
    with pytest.raises(TargetError, match="the engine died: gone"):
        in_process(EngineDied("gone"))
    with pytest.raises(TargetError, match="KeyError"):
        in_process(KeyError("odd"))
