"""Arms that run nothing: what they answer is computed, and they fail when they are told to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from decider.perf.comparison.arm import ArmError, FailureKind

ENVIRONMENT = {"machine": "m", "torch": "2.13", "engine.model": "tiny", "engine.backend": "eager"}


def cell(name: str, skip: str | None = None) -> dict[str, Any]:
    """What an arm says of a cell, by the name it has in documents."""
    benchmark, _, rest = name.partition("/")
    parameters: dict[str, Any] = {}
    tokens = None
    if benchmark == "forward":
        batch, length = (int(part) for part in rest.split("x"))
        parameters, tokens = {"batch": batch, "length": length}, batch * length
    elif benchmark == "plan":
        mix, rows, cost = rest.split("/")
        parameters = {"mix": mix, "rows": int(rows), "cost": cost}
    return {
        "id": name,
        "benchmark": benchmark,
        "parameters": parameters,
        "real_tokens": tokens,
        "padded_tokens": tokens,
        "skip": skip,
    }


class FakeArm:
    """Answers as an arm does.

    Args:
        cells: names, or what `cell` made.
        seconds: of one run of a cell at a visit, counted over all cells of this arm.
        fails: by cell, how; "start" for the start itself.
        log: every message is noted there, with `name`.
    """

    def __init__(
        self,
        cells: list[Any],
        seconds: Callable[[str, int], float] = lambda _cell, _visit: 0.01,
        *,
        fails: Mapping[str, FailureKind] | None = None,
        environment: Mapping[str, Any] | None = None,
        log: list[tuple[str, str, str]] | None = None,
        name: str = "",
        sm_mhz: Callable[[str, int], float | None] = lambda _cell, _visit: None,
    ) -> None:
        self._cells = [cell(found) if isinstance(found, str) else found for found in cells]
        self._seconds = seconds
        self._fails = fails or {}
        self._environment = dict(ENVIRONMENT if environment is None else environment)
        self._log = [] if log is None else log
        self._name = name
        self._sm_mhz = sm_mhz
        self._visits = 0
        self.closed = False

    def hello(self, seconds: float) -> dict[str, Any]:
        if "start" in self._fails:
            raise ArmError(self._fails["start"], "it did not start")
        return {
            "cells": self._cells,
            "environment": self._environment,
            "graphs": None,
            "constant": 128,
        }

    def ask(self, message: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        assert not self.closed
        name = message.get("cell", "")
        self._log.append((self._name, message["do"], name))
        if message["do"] == "pin":
            return {}
        if name in self._fails:
            raise ArmError(self._fails[name], f"{name} failed")
        if message["do"] == "warm_up":
            return {"repeats": 2}
        self._visits += 1
        return {
            "seconds": [self._seconds(name, self._visits)],
            "sm_mhz": self._sm_mhz(name, self._visits),
        }

    def close(self) -> None:
        self.closed = True
