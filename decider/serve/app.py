"""The HTTP app: JSON to rows, rows to a batcher, answers and errors back to JSON.

Knows routes and messages; batches nothing and opens nothing. Every error is `{"detail": sentence}`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import Any, Protocol, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from decider.engine import Row
from decider.serve import messages, metrics
from decider.serve.admission import Admission, Checking
from decider.serve.errors import (
    MalformedError,
    RowsFailedError,
    TooLargeError,
    UnavailableError,
)
from decider.serve.guard import Guard
from decider.serve.openapi import description, model_limits
from decider.serve.settings import Settings
from decider.serve.text import Question, Tokenizer, question_row
from decider.version import __version__

ABOUT = (
    "Scores rows of tokens: probabilities over each slot's options, batched by an exact planner."
)
CLIENT_CLOSED_REQUEST = 499
"""Nobody reads it: the client went away."""

Body = TypeVar("Body", bound=BaseModel)
Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


class Scoring(metrics.Observed, Protocol):
    """What the app asks of a batcher."""

    @property
    def reason(self) -> str | None:
        """Why it is not healthy."""
        ...

    async def submit(self, rows: Sequence[Row]) -> list[Any]:
        """The answers to the rows of one request."""
        ...


class Model(Checking, Protocol):
    """What the app asks of an engine."""

    @property
    def vocabulary_size(self) -> int:
        """Tokens are below this."""
        ...

    @property
    def max_options(self) -> int:
        """The most options of a slot."""
        ...

    @property
    def max_slots(self) -> int:
        """The most slots of a row."""
        ...

    @property
    def max_row_tokens(self) -> int:
        """The most tokens of a row."""
        ...

    def describe(self) -> dict[str, Any]:
        """What it is, as plain JSON values."""
        ...


def create_app(
    settings: Settings,
    engine: Model,
    batcher: Scoring,
    tokenizer: Tokenizer,
    *,
    cost: str = "",
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """The ASGI app.

    Args:
        settings: whose limits it keeps.
        engine: checks rows; it is not asked to run any.
        batcher: answers them.
        tokenizer: of `/v1/decide`.
        cost: what plans are priced with, in words, for `/stats`.
        lifespan: starts and closes what the app needs.
    """
    app = FastAPI(
        title="decider",
        version=__version__,
        description=ABOUT,
        lifespan=lifespan,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
    )
    admission = Admission.from_settings(settings, engine)
    _add_questions(app, admission, batcher, tokenizer)
    _add_observation(app, engine, batcher, tokenizer, cost)
    _add_errors(app, batcher)
    limits = model_limits(
        vocabulary=engine.vocabulary_size,
        options=engine.max_options,
        slots=engine.max_slots,
        rows=settings.max_rows,
        row_tokens=min(settings.max_row_tokens, engine.max_row_tokens),
    )
    app.openapi = cache(lambda: description(app, limits))  # type: ignore[method-assign]
    app.add_middleware(
        Guard,
        max_open_requests=settings.max_open_requests,
        max_body_bytes=settings.max_body_bytes,
        body_timeout_s=settings.body_timeout_s,
        rejections=batcher.stats.rejections,
    )
    return app


def _add_questions(
    app: FastAPI, admission: Admission, batcher: Scoring, tokenizer: Tokenizer
) -> None:
    problems: dict[int | str, dict[str, Any]] = {
        status: {"model": messages.Problem, "description": text}
        for status, text in {
            400: "the request is no HTTP",
            408: "the body came too slowly",
            413: "too large; the limit is named",
            415: "the body is no JSON",
            422: "malformed; the place is named",
            500: "rows failed, each alone",
            503: "overloaded, starting, stopping or dead; Retry-After says when to ask again",
        }.items()
    }

    @app.post("/v1/score", response_model=messages.ScoreAnswer, responses=problems)
    async def score(request: Request) -> Response:
        """Score rows of tokens."""
        body = await _body(request, messages.ScoreRequest)
        rows = [
            Row(row.tokens, [(slot.position, slot.options) for slot in row.slots])  # type: ignore[misc]
            for row in body.rows
        ]
        answers = await _unless_gone(request, batcher.submit(admission.admit(rows)))
        return _json({"answers": [_plain(answer) for answer in answers]})

    @app.post("/v1/decide", response_model=messages.DecideAnswer, responses=problems)
    async def decide(request: Request) -> Response:
        """Answer questions about a context."""
        body = await _body(request, messages.DecideRequest)
        questions = [question.question() for question in body.questions]
        # In another thread: tokenizing a long text takes long, and others wait to be answered.
        row = await asyncio.to_thread(question_row, body.context, questions, tokenizer)
        [answer] = await _unless_gone(request, batcher.submit(admission.admit([row])))
        decisions = [
            _decision(question, probabilities)
            for question, probabilities in zip(questions, _plain(answer), strict=True)
        ]
        return _json({"answers": decisions, "tokens": len(row.tokens)})


def _add_observation(
    app: FastAPI, engine: Model, batcher: Scoring, tokenizer: Tokenizer, cost: str
) -> None:
    page = metrics.Metrics(batcher)

    @app.get("/health", response_model=messages.Health, responses={503: {"model": messages.Health}})
    async def health() -> Response:
        """Whether requests are answered."""
        values = {"healthy": batcher.healthy, "reason": batcher.reason}
        return JSONResponse(values, 200 if batcher.healthy else 503)

    @app.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def prometheus() -> Response:
        """The statistics for Prometheus."""
        return Response(page.page(), headers={"content-type": metrics.CONTENT_TYPE})

    @app.get("/stats")
    async def stats() -> dict[str, Any]:
        """The statistics as JSON, and what they were measured on."""
        return {
            **batcher.stats.to_dict(),
            "healthy": batcher.healthy,
            "queued_rows": batcher.queued_rows,
            "engine": engine.describe(),
            "cost": cost,
            "tokenizer": tokenizer.name,
        }


def _add_errors(app: FastAPI, batcher: Scoring) -> None:
    rejections = batcher.stats.rejections

    def problem(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
        return JSONResponse({"detail": detail}, status, headers)

    @app.exception_handler(TooLargeError)
    async def too_large(_: Request, error: TooLargeError) -> Response:
        rejections["too_large"] += 1
        return problem(413, str(error))

    @app.exception_handler(MalformedError)
    async def malformed(_: Request, error: MalformedError) -> Response:
        rejections["malformed"] += 1
        return problem(422, str(error))

    @app.exception_handler(UnavailableError)
    async def unavailable(_: Request, error: UnavailableError) -> Response:
        return problem(503, str(error), {"retry-after": str(error.retry_after)})

    @app.exception_handler(RowsFailedError)
    async def rows_failed(_: Request, error: RowsFailedError) -> Response:
        answers = [None if answer is None else _plain(answer) for answer in error.answers]
        failures = {str(row): reason for row, reason in error.failures.items()}
        return _json({"detail": str(error), "answers": answers, "failures": failures}, 500)

    @app.exception_handler(HTTPException)
    async def other(_: Request, error: HTTPException) -> Response:
        return problem(error.status_code, error.detail, dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def unforeseen(_: Request, error: Exception) -> Response:
        return problem(500, f"unforeseen: {type(error).__name__}: {error}")


async def _body(request: Request, model: type[Body]) -> Body:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        # A page of another origin can send other types to a server on its reader's own machine.
        raise HTTPException(415, "send JSON, with the header `content-type: application/json`")
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        first, *others = error.errors(include_url=False, include_context=False, include_input=False)
        where = ".".join(map(str, first["loc"]))
        more = f" (and {len(others)} more)" if others else ""
        raise MalformedError(f"{where + ': ' if where else ''}{first['msg']}{more}") from None


async def _unless_gone(request: Request, answer: Coroutine[Any, Any, list[Any]]) -> list[Any]:
    """The answer, unless the client goes away first: then its rows leave the queue."""
    answering = asyncio.create_task(answer)
    leaving = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise HTTPException(CLIENT_CLOSED_REQUEST, "the client went away")
        return answering.result()
    finally:
        answering.cancel()
        leaving.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _plain(answer: Any) -> list[list[float]]:
    return [probabilities.tolist() for probabilities in answer]


def _decision(question: Question, probabilities: list[float]) -> dict[str, Any]:
    named = dict(zip(question.options, probabilities, strict=True))
    return {"answer": max(named, key=named.__getitem__), "probabilities": named}


def _json(values: Any, status: int = 200) -> Response:
    return Response(to_json(values), status, media_type="application/json")
