"""One tiny model for all tests that need a real one: torch and the weights are loaded once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from decider.engine import Engine, open_engine
from decider.grid import BucketGrid

REAL_GRID = BucketGrid(
    length_buckets=(8, 64, 72, 130), batch_buckets=(1, 2, 3), token_budget=216, long_step=50
)
"""Lengths below, at and above the 64-token chunks of the gated delta rule."""


@pytest.fixture(scope="session")
def tiny_model() -> Any:
    from decider.engine.model import build_preset

    return build_preset("tiny", seed=3)


@pytest.fixture
def tiny(tiny_model: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The engine that `open_engine` makes on the CPU, around the session's model."""
    monkeypatch.setattr("decider.engine.opening._module", lambda *_: tiny_model)
    with open_engine("tiny", grid=REAL_GRID, device="cpu") as engine:
        yield engine
