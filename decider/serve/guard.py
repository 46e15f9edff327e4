"""What stands before the app: how many requests are open, and how large and slow their bodies are.

A body is read whole, within its limits, before the app sees the request; so no parser ever runs on
one that is too large, too slow or cut short. ASGI, no framework; it knows no rows.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from decider.serve.settings import variable

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LINGER_SECONDS = 2.0
"""How long what is left of a refused body is read and dropped: closing a connection with unread
data resets it, and the client would never see why it was refused."""

BODILESS = ("GET", "HEAD")


class RefusalError(Exception):
    """A request that the app never sees: status, a sentence, and further headers."""

    def __init__(self, status: int, detail: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers


class Guard:
    """An ASGI app before another.

    Args:
        app: sees only requests with a whole body.
        max_open_requests: requests with a body that are read or answered at once.
        max_body_bytes: of one request.
        body_timeout_s: from the end of the headers to the end of the body.
        rejections: where refused requests are counted, by reason.
    """

    def __init__(
        self,
        app: App,
        *,
        max_open_requests: int,
        max_body_bytes: int,
        body_timeout_s: float,
        rejections: Counter[str],
    ) -> None:
        self._app = app
        self._max_open = max_open_requests
        self._max_bytes = max_body_bytes
        self._timeout = body_timeout_s
        self._rejections = rejections
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in BODILESS:
            await self._app(scope, receive, send)
            return
        self._open += 1
        try:
            await self._guarded(scope, receive, send)
        finally:
            self._open -= 1

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check_open_requests()
            body = await self._body(scope, receive)
        except RefusalError as refusal:
            await _refuse(refusal, send)
            return
        if body is not None:
            await self._app(scope, _replayed(body, receive), send)

    def _check_open_requests(self) -> None:
        if self._open > self._max_open:
            self._rejections["open_requests"] += 1
            raise RefusalError(
                503,
                f"{self._max_open} requests are open already ({variable('max_open_requests')})",
                (b"retry-after", b"1"),
            )

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None when the client went away before it was whole."""
        headers = dict(scope["headers"])
        if _declared(headers) > self._max_bytes:
            if b"expect" not in headers:  # one that waits for a "go on" has sent nothing yet
                await self._drop(receive)
            raise self._too_large()
        body = bytearray()
        try:
            async with asyncio.timeout(self._timeout):
                while True:
                    event = await receive()
                    if event["type"] == "http.disconnect":
                        return None
                    body += event.get("body", b"")
                    if len(body) > self._max_bytes:
                        break
                    if not event.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            self._rejections["slow_body"] += 1
            raise RefusalError(
                408, f"the body took over {self._timeout:g} s ({variable('body_timeout_s')})"
            ) from None
        body.clear()
        await self._drop(receive)
        raise self._too_large()

    def _too_large(self) -> RefusalError:
        self._rejections["too_large"] += 1
        return RefusalError(
            413, f"the body is over {self._max_bytes} bytes ({variable('max_body_bytes')})"
        )

    async def _drop(self, receive: Receive) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(min(LINGER_SECONDS, self._timeout)):
                while (await receive()).get("more_body", False):
                    pass


def _declared(headers: dict[bytes, bytes]) -> int:
    try:
        return int(headers.get(b"content-length", b"0"))
    except ValueError:
        return 0  # the server refuses it; here the bytes are counted anyway


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives the body once, and then whatever comes, which is the client's going away."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Event:
        return waiting.pop() if waiting else await receive()

    return replay


async def _refuse(refusal: RefusalError, send: Send) -> None:
    content = json.dumps({"detail": str(refusal)}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        (b"connection", b"close"),
        *refusal.headers,
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": content, "more_body": False})
