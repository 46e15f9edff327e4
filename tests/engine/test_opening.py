"""`open_engine`: defaults, refusals, and that it needs neither torch on import nor a network."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from decider.engine import Engine, open_engine
from decider.grid import CPU_GRID
from tests.engine.conftest import REAL_GRID
from tests.engine.test_eager import real_row

no_cuda = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")


def test_importing_the_engine_loads_no_torch() -> None:
    code = "import sys, decider.engine; print({'torch', 'transformers'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"


def test_an_engine_describes_what_a_result_must_carry(tiny: Engine, tiny_model: Any) -> None:
    described = tiny.describe()
    assert described["model"] == "tiny"
    assert described["parameters"] == sum(w.numel() for w in tiny_model.parameters())
    assert described["dtype"] == "float32"
    assert described["backend"] == "eager"
    assert described["torch"] == torch.__version__
    assert set(described) == {
        *("model", "seed", "parameters", "dtype", "device", "device_name", "backend"),
        *("threads", "torch", "transformers", "kernels"),
    }
    assert tiny.grid is REAL_GRID
    assert tiny.device == "cpu"
    assert tiny.model is tiny_model


def test_a_preset_opens_and_scores_without_any_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with open_engine(device="cpu", threads=2) as engine:
        assert engine.model_name == "tiny"
        assert engine.grid is CPU_GRID
        assert engine.describe()["threads"] == 2
        assert len(engine.score([real_row(7)])) == 1


@no_cuda
def test_auto_means_the_cpu_and_eager_where_there_is_no_gpu(tiny: Engine) -> None:
    with open_engine() as engine:
        assert (engine.device, engine.describe()["backend"]) == ("cpu", "eager")


def test_a_dtype_is_taken_by_name_or_as_torchs_own() -> None:
    for dtype in ("bfloat16", torch.bfloat16):
        with open_engine(device="cpu", dtype=dtype) as engine:
            assert engine.describe()["dtype"] == "bfloat16"
            answers = engine.score([real_row(7)])[0]
            assert answers[0].sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "huge"}, "model 'huge' is neither a preset .tiny, 2b. nor a folder"),
        ({"model": Path("nowhere/at/all")}, "neither a preset"),
        ({"device": "gpu"}, "no device 'gpu'; give auto, cpu"),
        ({"device": "mps"}, "device 'mps' is not supported"),
        ({"device": "cuda:99"}, "device 'cuda:99': torch sees"),
        ({"dtype": "int8"}, "no dtype 'int8'; known: float32"),
        ({"backend": "magic"}, "no backend 'magic'; known: auto, eager, cuda-graph"),
        ({"device": "cpu", "backend": "cuda-graph"}, "needs a CUDA device"),
        ({"threads": 0}, "threads must be at least 1, not 0"),
    ],
)
def test_an_unusable_value_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_engine(**arguments)
