"""How far a sampler is, in one line for people."""

from __future__ import annotations

import math
import time
from typing import TextIO

from benchmarks.sampling import Clock, Sampler


class Progress:
    """Says on `stream` how far the run is and how long it will still take.

    On a terminal one line is rewritten; elsewhere a line is added every `every` seconds.
    """

    def __init__(
        self, stream: TextIO, clock: Clock = time.perf_counter, every: float = 15.0
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._every = 0.2 if stream.isatty() else every
        self._next = -math.inf

    def __call__(self, sampler: Sampler) -> None:
        """Say it, unless it was said a moment ago."""
        if self._clock() < self._next:
            return
        self._next = self._clock() + self._every
        text = progress_text(sampler)
        self._stream.write(f"\r{text}\x1b[K" if self._stream.isatty() else f"{text}\n")
        self._stream.flush()

    def end(self) -> None:
        """Clear the line, where there is one."""
        if self._stream.isatty():
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def progress_text(sampler: Sampler) -> str:
    """How far `sampler` is: cells warm or done, and a guess of the time left."""
    count = len(sampler.samples)
    left = sampler.seconds_left()
    about = f"about {left / 60:.0f} min left" if left >= 120 else f"about {left:.0f} s left"
    if cold := sum(samples.repeats == 0 for samples in sampler.waiting):
        return f"forward: {count - cold} of {count} cells warm, {about}"
    done = count - len(sampler.waiting)
    return f"forward: {done} of {count} cells done, round {sampler.rounds + 1}, {about}"
