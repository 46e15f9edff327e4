"""An arm: a process that holds one commit and samples a cell when it is asked.

The parent's end of the messages of `benchmarks.arm`. Knows processes, pipes and time limits; knows
no cells, no pairs and no statistics.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal, Protocol, cast

FailureKind = Literal["crash", "timeout", "error"]

LAST_WORDS = 1_500
"""Characters of its standard error that a failure quotes."""

GRACE_SECONDS = 5.0


class ArmError(Exception):
    """An arm could not answer.

    Attributes:
        kind: it ended, it took too long, or it answered with an error and lives on.
        message: what it said last.
    """

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.message = message


class Arm(Protocol):
    """What a pair asks of an arm."""

    def hello(self, seconds: float) -> dict[str, Any]:
        """What it can sample and what it runs on; waits for its start.

        Raises:
            ArmError: it did not start within `seconds`.
        """
        ...

    def ask(self, message: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Its answer to `message`.

        Raises:
            ArmError: there was none within `seconds`, or an error.
        """
        ...

    def close(self) -> None:
        """End it, whatever it does."""
        ...


class ProcessArm:
    """An arm in a process group of its own.

    Args:
        arguments: of the interpreter that runs this.
        imports: folder that decides which commit is imported, see `imports_folder`.
        folder: where it runs.
        environment: variables set besides the inherited ones.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        imports: Path,
        folder: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._errors = tempfile.TemporaryFile("w+b")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=folder,
            env={**os.environ, **(environment or {}), "PYTHONPATH": str(imports)},
            start_new_session=True,
            text=True,
            encoding="utf-8",
        )
        # pipes were asked for above
        self._messages, self._lines = (
            cast(IO[str], stream) for stream in (self._process.stdin, self._process.stdout)
        )
        self._answers: queue.Queue[str | None] = queue.Queue()
        self._ended = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def hello(self, seconds: float) -> dict[str, Any]:
        """See `Arm`."""
        return self._answer(seconds)

    def ask(self, message: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """See `Arm`."""
        try:
            self._messages.write(json.dumps(message) + "\n")
            self._messages.flush()
        except OSError:
            raise self._crash() from None
        return self._answer(seconds)

    def close(self) -> None:
        """See `Arm`."""
        with contextlib.suppress(OSError):
            self._messages.close()  # it ends by itself at the end of its input
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)
        self._kill()
        self._lines.close()
        self._errors.close()

    def _answer(self, seconds: float) -> dict[str, Any]:
        try:
            line = self._answers.get(timeout=seconds)
        except queue.Empty:
            self._kill()
            words = self._last_words()
            raise ArmError("timeout", f"no answer within {seconds:g} s{words}") from None
        if line is None:
            raise self._crash()
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            self._kill()
            raise ArmError("crash", f"no answer but {line[:200]!r}")
        if "error" in answer:
            raise ArmError("error", str(answer["error"])[:LAST_WORDS])
        return answer

    def _crash(self) -> ArmError:
        status = self._kill()
        if status < 0:
            with contextlib.suppress(ValueError):
                return ArmError(
                    "crash", f"ended by {signal.Signals(-status).name}{self._last_words()}"
                )
        return ArmError("crash", f"ended with status {status}{self._last_words()}")

    def _kill(self) -> int:
        """End the whole group, unless the process ended by itself; return its status."""
        if self._ended.is_set():
            # The pipe of a process that died closes a moment before its status is known.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_SECONDS)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait()

    def _read(self) -> None:
        with contextlib.suppress(ValueError, OSError):  # closed under us
            for line in self._lines:
                self._answers.put(line)
        self._ended.set()
        self._answers.put(None)

    def _last_words(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - LAST_WORDS))
        text = self._errors.read().decode(errors="replace").strip()
        return f":\n{text}" if text else ""
