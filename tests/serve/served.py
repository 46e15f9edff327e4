"""A server process of its own, with the real `tiny` engine, and what it prints."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from types import TracebackType
from typing import Self

PROGRAM = "from decider.commands.serve import serve; serve()"
START_SECONDS = 120


class ServerProcess:
    """`decider serve` on a free port, ready when entered and gone when left."""

    def __init__(self, **variables: str) -> None:
        self.lines: list[str] = []
        self.ready = False
        self._ended = threading.Event()  # of the start, whichever way
        self._variables = {"OMP_NUM_THREADS": "1", "DECIDER_PORT": "0", "DECIDER_DEVICE": "cpu"}
        self._variables |= variables

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | self._variables,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._ended.wait(START_SECONDS)
        if not self.ready:
            self.__exit__(None, None, None)
            raise RuntimeError("\n".join(self.lines))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()

    @property
    def url(self) -> str:
        """Where it listens."""
        [address] = {m[0] for line in self.lines if (m := re.search(r"http://[\d.]+:\d+", line))}
        return str(address)

    def connect(self) -> socket.socket:
        """A bare connection."""
        host, port = self.url.removeprefix("http://").split(":")
        return socket.create_connection((host, int(port)), timeout=30)

    def terminate(self) -> int:
        """Send a SIGTERM and wait; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self._reader.join()
        return status

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            if line.startswith("  curl"):
                self.ready = True
                self._ended.set()
        self._ended.set()
