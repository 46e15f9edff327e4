"""One line of progress, on a terminal and elsewhere."""

from __future__ import annotations

import io

from benchmarks.progress import Progress, progress_text
from benchmarks.sampling import Sampler, Timing
from tests.benchmarks.fakes import FakeClock, FakeProbe

CELLS = ["a", "b", "c"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(stream: io.StringIO, seconds: float = 1.0, cap: float = 2.0) -> tuple[Sampler, list[str]]:
    clock = FakeClock()
    probe = FakeProbe(clock, lambda cell, count: seconds, CELLS)
    sampler = Sampler(probe, Timing(time_cap_seconds=cap), clock=clock)
    progress = Progress(stream, clock, every=5.0)
    texts = []

    def each(now: Sampler) -> None:
        progress(now)
        texts.append(progress_text(now))

    sampler.run(progress=each)
    progress.end()
    return sampler, texts


def test_it_counts_warm_and_then_finished_cells_and_guesses_the_time_left() -> None:
    _, texts = run(io.StringIO())
    assert texts[0] == "forward: 1 of 3 cells warm, about 6 s left"
    assert texts[3] == "forward: 0 of 3 cells done, round 1, about 9 s left"
    assert texts[-1].startswith("forward: 3 of 3 cells done, round 6, about 0 s left")


def test_long_times_are_minutes() -> None:
    clock = FakeClock()
    sampler = Sampler(
        FakeProbe(clock, lambda cell, count: 1.0, CELLS), Timing(time_cap_seconds=100.0)
    )
    assert progress_text(sampler).endswith("about 5 min left")


def test_elsewhere_a_line_is_added_now_and_then() -> None:
    stream = io.StringIO()
    run(stream)  # 21 seconds of the fake clock
    lines = stream.getvalue().splitlines()
    assert len(lines) == 5
    assert not any("\r" in line for line in lines)


def test_on_a_terminal_the_line_is_rewritten_and_cleared_at_the_end() -> None:
    stream = Terminal()
    run(stream)
    assert "\n" not in stream.getvalue()
    assert stream.getvalue().count("\r") == 22  # 3 to warm up, 18 blocks, the end
    assert stream.getvalue().endswith("\r\x1b[K")
