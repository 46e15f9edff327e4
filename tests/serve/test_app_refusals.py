"""What each bad request is told, and what of it is counted."""

from __future__ import annotations

from typing import Any

import pytest

from decider.serve.errors import EngineDied, Overloaded
from tests.serve.fakes import FakeEngine
from tests.serve.test_app import ROW, Answering, app_of, request, score

LIMITS = {"max_rows": 2, "max_row_tokens": 5, "max_request_tokens": 8, "max_body_bytes": 2_000}


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([ROW] * 3, "rows: 3 is over the limit of 2 (DECIDER_MAX_ROWS)"),
        (
            [ROW, {**ROW, "tokens": [1] * 6}],
            "tokens of row 1: 6 is over the limit of 5 (DECIDER_MAX_ROW_TOKENS)",
        ),
        (
            [{**ROW, "tokens": [1] * 5}] * 2,
            "tokens of the request: 10 is over the limit of 8 (DECIDER_MAX_REQUEST_TOKENS)",
        ),
        ([{**ROW, "tokens": [1] * 1_000}], "the body is over 2000 bytes (DECIDER_MAX_BODY_BYTES)"),
    ],
)
def test_what_is_too_large_is_refused_and_told_the_limit(rows: Any, sentence: str) -> None:
    scoring = Answering(FakeEngine())
    response = score(app_of(scoring, **LIMITS), *rows)
    assert (response.status_code, response.json()["detail"]) == (413, sentence)
    assert scoring.stats.rejections == {"too_large": 1}


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "Invalid JSON: EOF while parsing"),
        (b'{"rows": [', "Invalid JSON: EOF while parsing a list"),
        (b"\xff\xfe", "Invalid JSON"),
        (b'{"rows": []}', "rows: List should have at least 1 item"),
        (b'{"rows": 3}', "rows: Input should be a valid array"),
        (b'{"rows": [{"tokens": [1], "slots": [], "colour": 1}]}', "rows.0.slots: List should"),
        (b'{"row": []}', "rows: Field required"),
        (
            b'{"rows": [{"tokens": [1, true], "slots": [{"position": 0, "options": 2}]}]}',
            "rows.0.tokens.1: Input should be a valid integer",
        ),
        (
            b'{"rows": [{"tokens": [1.5], "slots": [{"position": 0, "options": 2}]}]}',
            "rows.0.tokens.0: Input should be a valid integer",
        ),
        (
            b'{"rows": [{"tokens": [1], "slots": [{"position": 1, "options": 2}]}]}',
            "row 0: slot 0: position 1 is outside 1 tokens",
        ),
        (
            b'{"rows": [{"tokens": [1], "slots": [{"position": 0, "options": 9}]}]}',
            "row 0: slot 0: 9 options; the readout gives 2 to 8",
        ),
        (
            b'{"rows": [{"tokens": [1000], "slots": [{"position": 0, "options": 2}]}]}',
            "row 0: token 1000 at index 0 is outside the vocabulary of 1000",
        ),
        (
            b'{"rows": [{"tokens": [%s], "slots": [{"position": 0, "options": 2}]}]}'
            % (b"9" * 5_000),
            "Invalid JSON: number out of range",
        ),
        (
            b'{"rows": [{"tokens": [1, 36893488147419103232],'
            b' "slots": [{"position": 0, "options": 2}]}]}',
            "row 0: token 36893488147419103232 at index 1 is outside the vocabulary",
        ),
        (b"[" * 100_000, "Invalid JSON: recursion limit"),
    ],
)
def test_what_is_malformed_is_refused_and_told_where(body: bytes, sentence: str) -> None:
    scoring = Answering(FakeEngine())
    headers = {"content-type": "application/json"}
    response = request(app_of(scoring), "POST", "/v1/score", content=body, headers=headers)
    assert response.status_code == 422
    assert sentence in response.json()["detail"]
    assert scoring.stats.rejections == {"malformed": 1}
    assert scoring.asked == []


@pytest.mark.parametrize(
    ("questions", "sentence"),
    [
        ([], "questions: List should have at least 1 item"),
        ([{"type": "riddle", "text": "?"}], "questions.0: Input tag 'riddle'"),
        ([{"type": "yes_no", "text": ""}], "String should have at least 1 character"),
        ([{"type": "choice", "text": "?", "options": ["a", "a"]}], "options must differ"),
        ([{"type": "choice", "text": "?", "options": ["a"]}], "at least 2 items"),
        ([{"type": "scale", "text": "?", "levels": 9}], "9 options; the readout gives 2 to 8"),
        ([{"type": "scale", "text": "?", "levels": 10**12}], "less than or equal to 1000"),
        ([{"type": "yes_no", "text": "?"}] * 5, "5 slots: a row holds at most 4"),
    ],
)
def test_malformed_questions_are_told_what_is_wrong(questions: Any, sentence: str) -> None:
    response = request(app_of(), "POST", "/v1/decide", json={"context": "", "questions": questions})
    assert response.status_code == 422
    assert sentence in response.json()["detail"]


def test_only_json_is_taken() -> None:
    for headers in ({}, {"content-type": "text/plain"}):
        response = request(app_of(), "POST", "/v1/score", content=b"{}", headers=headers)
        assert response.status_code == 415
        assert "content-type: application/json" in response.json()["detail"]
    headers = {"content-type": "Application/JSON; charset=utf-8"}
    response = request(app_of(), "POST", "/v1/score", content=b"{}", headers=headers)
    assert response.status_code == 422


def test_overload_is_told_when_to_come_back() -> None:
    response = score(app_of(Answering(FakeEngine(), Overloaded(limit=9, retry_after=4))), ROW)
    assert response.status_code == 503
    assert response.headers["retry-after"] == "4"
    assert "at most 9 rows wait (DECIDER_MAX_QUEUE_ROWS)" in response.json()["detail"]


def test_a_dead_engine_says_why_and_is_unhealthy() -> None:
    app = app_of(Answering(FakeEngine(), EngineDied("the device fell off the bus")))
    response = score(app, ROW)
    assert response.status_code == 503
    assert response.json()["detail"] == "the device fell off the bus"
    assert "retry-after" in response.headers
    health = request(app, "GET", "/health")
    assert health.status_code == 503
    assert health.json() == {"healthy": False, "reason": "the device fell off the bus"}


def test_an_error_nobody_foresaw_is_json_too() -> None:
    response = score(app_of(Answering(FakeEngine(), ZeroDivisionError("oh"))), ROW)
    assert response.status_code == 500
    assert response.json() == {"detail": "unforeseen: ZeroDivisionError: oh"}


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/v1/score", 405), ("GET", "/nowhere", 404)]
)
def test_wrong_paths_and_methods_are_json_too(method: str, path: str, status: int) -> None:
    response = request(app_of(), method, path)
    assert response.status_code == status
    assert response.json()["detail"]
