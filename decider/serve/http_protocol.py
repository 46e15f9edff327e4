"""uvicorn's HTTP/1.1 protocol with a time limit for headers, and an answer to a body cut short.

uvicorn limits how long a connection idles between requests, but not how long the first bytes of one
may take. This file knows HTTP/1.1 and uvicorn; no app.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol


def timed_protocol(header_timeout_s: float) -> type[H11Protocol]:
    """A protocol class for uvicorn whose connections send each request's headers in that time.

    The time counts from the connection, and for later requests from their first byte.
    """

    class TimedProtocol(_TimedProtocol):
        header_timeout = header_timeout_s

    return TimedProtocol


class _TimedProtocol(H11Protocol):
    header_timeout: float

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._set_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._clear_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            if self._header_timer is None:
                self._set_timer()
        else:
            self._clear_timer()

    def eof_received(self) -> None:
        """The client sends no more; where it owes the rest of a body it is told so."""
        cycle = self.cycle
        if cycle is not None and cycle.more_body and not cycle.response_started:
            self._refuse(400, "the body ended before its announced length")

    def _set_timer(self) -> None:
        self._header_timer = self.loop.call_later(self.header_timeout, self._headers_too_slow)

    def _clear_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _headers_too_slow(self) -> None:
        self._header_timer = None
        if self.conn.our_state is h11.IDLE and not self.transport.is_closing():
            self._refuse(
                408, f"headers took over {self.header_timeout:g} s (DECIDER_HEADER_TIMEOUT_S)"
            )

    def _refuse(self, status: int, detail: str) -> None:
        content = json.dumps({"detail": detail}).encode()
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(content))),
            ("connection", "close"),
        ]
        reason = STATUS_PHRASES[status]
        events = (
            h11.Response(status_code=status, headers=headers, reason=reason),
            h11.Data(data=content),
            h11.EndOfMessage(),
        )
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
