from __future__ import annotations

import socket

import pytest

from decider.grid import CPU_GRID
from decider.serve.opening import Opened, open_batcher
from decider.serve.pricing import Pricing
from decider.serve.server import _Server
from decider.serve.settings import Settings
from tests.serve.fakes import COST, FakeEngine, batcher


def test_the_cpu_default_opens_the_tiny_model_on_its_grid_and_says_so() -> None:
    opened = open_batcher(Settings(device="cpu", max_batch=5))
    assert opened.engine.grid == CPU_GRID
    notes = "\n".join(opened.notes())
    assert "model: tiny, float32, eager on cpu" in notes
    assert f"grid: {len(CPU_GRID.shapes)} shapes" in notes
    assert f"cost: {opened.pricing.source}" in notes
    assert "grid finding max-batch-off-ladder" in notes
    assert not opened.batcher.healthy
    opened.engine.close()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"model": "no such folder"}, "DECIDER_MODEL='no such folder'"),
        ({"device": "abacus"}, "DECIDER_DEVICE='abacus'"),
        ({"cost": "no such file"}, "DECIDER_COST='no such file'"),
    ],
)
def test_what_the_engine_refuses_is_named_by_its_variable(given: dict[str, str], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        open_batcher(Settings(**{"device": "cpu", **given}))


class Uncapturable(FakeEngine):
    def capture(self, progress: object) -> None:
        raise RuntimeError("out of device memory; try a smaller grid")


def test_a_server_whose_engine_cannot_capture_says_why_and_ends() -> None:
    engine = Uncapturable()
    lines: list[str] = []
    opened = Opened(
        Settings(),
        engine,  # type: ignore[arg-type]
        Pricing(COST, "a cost"),
        batcher(engine),
    )
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert _Server(opened, lines.append).run(bound) == 1
    assert "cannot start: out of device memory; try a smaller grid" in lines
