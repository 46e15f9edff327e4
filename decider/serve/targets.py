"""Where a load sends its rows: a batcher in this process, or a server over HTTP.

A target tells an answer, a refusal for overload and a failure apart, and nothing else. It knows no
schedule and judges no answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from decider.engine.rows import Row

if TYPE_CHECKING:
    import httpx

Answers = Sequence[Any]
"""One answer a row: for each slot, the probabilities of its options."""

DETAIL_SHOWN = 200


class TargetError(Exception):
    """A request failed for another reason than overload; the message says why."""


class RejectedError(Exception):
    """The server is overloaded.

    Args:
        reason: the server's words.
        retry_after: seconds after which it wants to be asked again.
    """

    def __init__(self, reason: str, retry_after: float) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Target(Protocol):
    """Something that answers rows."""

    async def score(self, rows: Sequence[Row]) -> Answers:
        """The answers to one request's rows, in their order.

        Raises:
            RejectedError: the server is overloaded.
            TargetError: anything else went wrong.
        """
        ...


class Submitting(Protocol):
    """The one method of a batcher that a load needs."""

    async def submit(self, rows: Sequence[Row]) -> Answers:
        """The answers to one request's rows."""
        ...


class BatcherTarget(Target):
    """A batcher on the event loop of the load."""

    def __init__(self, batcher: Submitting) -> None:
        self._batcher = batcher

    async def score(self, rows: Sequence[Row]) -> Answers:
        from decider.serve.errors import EngineDied, Overloaded

        try:
            return await self._batcher.submit(rows)
        except Overloaded as refused:
            raise RejectedError(str(refused), refused.retry_after) from None
        except Exception as error:  # whatever it is, the load goes on and counts it
            kind = "the engine died" if isinstance(error, EngineDied) else type(error).__name__
            raise TargetError(f"{kind}: {error}") from error


class HttpTarget(Target):
    """A server's `POST /v1/score`. Use it as an asynchronous context manager.

    Connections are as many as requests under way, and kept; a request goes out once, never again.

    Args:
        url: where the server is, such as `http://127.0.0.1:8000`.
        transport: what carries the requests, for tests.

    Raises:
        ValueError: the address is not one of http or https.
    """

    def __init__(self, url: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        import httpx

        self.url = url.rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"url {url!r}: an address begins with http:// or https://")
        unlimited = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        self._client = httpx.AsyncClient(
            base_url=self.url,
            limits=unlimited,
            timeout=None,  # noqa: S113  # the load has a time-out of its own for the whole request
            transport=transport,
            trust_env=False,  # a proxy between would be measured too
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    async def ready(self) -> None:
        """Return when the server says that it is healthy.

        Raises:
            TargetError: nothing answers there, or the server is not healthy; the message says what
                to do.
        """
        response = await self._send("GET", "/health")
        if response.status_code != 200:
            raise TargetError(f"{self.url}/health: {response.status_code}: {_detail(response)}")

    async def score(self, rows: Sequence[Row]) -> Answers:
        response = await self._send("POST", "/v1/score", json.dumps(score_body(rows)).encode())
        if response.status_code == 503 and "retry-after" in response.headers:
            raise RejectedError(_detail(response), _seconds(response.headers["retry-after"]))
        if response.status_code != 200:
            raise TargetError(f"{response.status_code}: {_detail(response)}")
        try:
            return score_answers(response.json())
        except (ValueError, KeyError, TypeError):
            raise TargetError(f"not an answer to /v1/score: {_detail(response)}") from None

    async def _send(self, method: str, path: str, body: bytes | None = None) -> httpx.Response:
        import httpx

        headers = {} if body is None else {"content-type": "application/json"}
        try:
            return await self._client.request(method, path, content=body, headers=headers)
        except httpx.ConnectError as error:
            raise TargetError(
                f"no server answers at {self.url} ({error}): start one with `decider serve`, or "
                "name it with --url"
            ) from None
        except httpx.HTTPError as error:
            raise TargetError(f"{type(error).__name__}: {error}") from None


def score_body(rows: Sequence[Row]) -> dict[str, Any]:
    """The JSON of a request to `/v1/score`."""
    return {
        "rows": [
            {
                "tokens": list(tokens),
                "slots": [{"position": at, "options": options} for at, options in slots],
            }
            for tokens, slots in rows
        ]
    }


def score_answers(body: Any) -> Answers:
    """The answers in a response of `/v1/score`."""
    answers: Answers = body["answers"]
    return answers


def _detail(response: httpx.Response) -> str:
    try:
        detail = response.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = response.text
    text = detail if isinstance(detail, str) else json.dumps(detail)
    return text if len(text) <= DETAIL_SHOWN else text[:DETAIL_SHOWN] + "..."


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:  # a date
        return 1.0
