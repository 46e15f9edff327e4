"""Finished runs of arms that run nothing, and what they compared."""

from __future__ import annotations

import math
import random
from typing import Any

from decider.perf.comparison.assembly import Subject
from decider.perf.comparison.commits import Commit
from decider.perf.comparison.run import Run
from decider.perf.verdict import Design
from tests.perf.comparison.arms import FakeArm

BASE = Commit("main", "a" * 40, "Before", "2026-01-01T00:00:00+00:00")
HEAD = Commit("HEAD", "b" * 40, "After", "2026-01-02T00:00:00+00:00")
CELLS = ["forward/1x64", "forward/4x64", "forward/1x256", "plan/decision/32/ladder", "control"]

FIXED, PER_TOKEN = 0.002, 0.00001
"""Of a forward, in seconds: an overhead of 200 token-units."""


class Arms:
    """Starts arms whose forwards lie on a line, but for a process's own noise.

    Args:
        slower: by cell, how much slower head is.
        overhead: factor on the fixed cost of head's forwards.
    """

    def __init__(
        self,
        slower: dict[str, float] | None = None,
        *,
        noise: float = 0.002,
        overhead: float = 1.0,
        cells: list[Any] = CELLS,
        **options: Any,
    ) -> None:
        self._slower = slower or {}
        self._noise = noise
        self._overhead = overhead
        self._cells = cells
        self._options = options
        self._random = random.Random(11)

    def __call__(self, side: str) -> FakeArm:
        own: dict[str, float] = {}
        for found in self._cells:
            name = found if isinstance(found, str) else found["id"]
            own[name] = self._seconds(name, side) * math.exp(self._random.gauss(0, self._noise))
        fails = self._options.get("fails", {}).get(side)
        return FakeArm(self._cells, lambda name, _visit: own[name], fails=fails)

    def _seconds(self, name: str, side: str) -> float:
        seconds = 0.01
        if name.startswith("forward/"):
            batch, length = name.removeprefix("forward/").split("x")
            fixed = FIXED * (self._overhead if side == "head" else 1)
            seconds = fixed + PER_TOKEN * int(batch) * int(length)
        return seconds * (1 + self._slower.get(name, 0) if side == "head" else 1)


def finished(arms: Arms, looks: tuple[int, ...] = (10, 14, 20)) -> Run:
    """A run of `arms`, to its end."""
    run = Run(arms, Design(looks=looks))
    run.go()
    return run


def subject(**changed: Any) -> Subject:
    """What was compared, with the same exact figures on both sides."""
    figures = {
        "figures": {"decision, 32 rows, seed 0, ladder": {"cost": 10.0, "forwards": 2.0}},
        "traffic": {"1x64": 3, "2x256": 1},
        "note": None,
    }
    values: dict[str, Any] = {
        "base": BASE,
        "head": HEAD,
        "profile": "quick",
        "command": "decider compare aaaa bbbb",
        "machine": "m",
        "exact": {"base": figures, "head": figures},
        "budget_seconds": 600.0,
    }
    return Subject(**{**values, **changed})
