"""One server process: socket, engine, app and signals, from the first line it prints to the last.

Everything that can be refused is refused before the engine captures: the address first, then the
settings of grid, cost and model. The server listens while the engine captures, and /health says so.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from fastapi import FastAPI

from decider.grid import Shape
from decider.serve.app import create_app
from decider.serve.http_protocol import timed_protocol
from decider.serve.opening import Opened, open_batcher
from decider.serve.settings import Settings, variable
from decider.serve.text import open_tokenizer

Say = Callable[[str], None]

KEEP_ALIVE_SECONDS = 75
"""Longer than the common proxies keep theirs, so that they, not the server, close first."""

CURL = (
    "curl -s {url}/v1/decide -H 'content-type: application/json' -d "
    """'{{"context": "The parcel never came.", "questions": """
    """[{{"type": "yes_no", "text": "Is this a complaint?"}}]}}'"""
)


def serve(settings: Settings, say: Say) -> int:
    """Serve until a SIGTERM or SIGINT; returns the exit status.

    Args:
        settings: what to serve and where.
        say: takes each line for people.

    Raises:
        ValueError: a setting is refused; the message names its variable.
    """
    with _bound(settings) as bound:
        opened = open_batcher(settings)
        server = _Server(opened, say)
        for note in opened.notes():
            say(note)
        return server.run(bound)


class _Server:
    def __init__(self, opened: Opened, say: Say) -> None:
        self._opened = opened
        self._say = say
        self._failed = False
        settings = opened.settings
        tokenizer = open_tokenizer(settings.model, opened.engine.vocabulary_size)
        app = create_app(
            settings,
            opened.engine,
            opened.batcher,
            tokenizer,
            cost=opened.pricing.source,
            lifespan=self._lifespan,
        )
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(
                app,
                http=timed_protocol(settings.header_timeout_s),
                ws="none",
                lifespan="on",
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=int(settings.shutdown_timeout_s) or 1,
            )
        )

    def run(self, bound: socket.socket) -> int:
        self._say(f"address: {_url(bound)}")
        with _signals_ignored():
            asyncio.run(self._serve(bound))
        return 1 if self._failed else 0

    async def _serve(self, bound: socket.socket) -> None:
        self._address = _url(bound)
        await self._uvicorn.serve(sockets=[bound])

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        starting = asyncio.create_task(self._start())
        yield
        starting.cancel()
        await self._opened.batcher.close()
        stats = self._opened.batcher.stats
        self._say(
            f"stopped: {stats.answered_requests} of {stats.requests} admitted requests answered, "
            f"{stats.failed_requests} failed, {stats.cancelled_requests} cancelled by their clients"
        )

    async def _start(self) -> None:
        try:
            await self._opened.batcher.start(self._capture)
        except Exception as error:
            self._failed = True
            self._say(f"cannot start: {error}")
            self._uvicorn.should_exit = True
        else:
            self._say(f"ready; try:\n  {CURL.format(url=self._address)}")

    def _capture(self) -> None:
        engine = self._opened.engine
        report = engine.capture(self._progress)
        engine.seal()
        if report.bytes_per_shape:
            self._say(
                f"captured {len(report.bytes_per_shape)} shapes in {report.seconds:.1f} s, "
                f"{report.total_bytes / 2**30:.2f} GiB"
            )

    def _progress(self, done: int, of: int, shape: Shape) -> None:
        if done % 10 == 0 or done == of:
            self._say(f"captured {done} of {of}, last {shape.batch} x {shape.length}")


@contextmanager
def _signals_ignored() -> Iterator[None]:
    """uvicorn handles them meanwhile, and raises them again at its end, which is no failure."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.signal(number, lambda *_: None) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)


def _bound(settings: Settings) -> socket.socket:
    """A socket at the address, not listening yet.

    Raises:
        ValueError: the address cannot be had; the message names the variables.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((settings.host, settings.port))
    except OSError as error:
        bound.close()
        raise ValueError(
            f"{variable('host')}={settings.host!r}, {variable('port')}={settings.port}: cannot "
            f"listen there: {error.strerror or error}; choose another port, or 0 for a free one"
        ) from None
    return bound


def _url(bound: socket.socket) -> str:
    host, port, *_ = bound.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
