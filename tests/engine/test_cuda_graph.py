"""Real graphs on a real GPU: capture, replay, fallback, memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from decider.engine import CaptureMemoryError, Engine, open_engine
from decider.engine.backend import DeviceMemoryError
from decider.engine.cuda_graph import _is_out_of_memory
from decider.engine.engine import BFLOAT16_TOLERANCE
from decider.grid import Shape
from tests.engine.conftest import REAL_GRID
from tests.engine.test_eager import distance, real_row

gpu = pytest.mark.gpu
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")

GPU_FLOAT32_TOLERANCE = 1e-3
"""Kernels of two devices, and of two shapes on one, may use other orders and TF32 products."""


@pytest.fixture
def captured() -> Iterator[Engine]:
    with open_engine("tiny", grid=REAL_GRID, device="cuda") as engine:
        engine.capture()
        engine.seal()
        yield engine


@gpu
@needs_cuda
def test_every_shape_is_captured_and_its_memory_known() -> None:
    with open_engine("tiny", grid=REAL_GRID, device="cuda") as engine:
        report = engine.capture()
    assert sorted(report.bytes_per_shape) == sorted(REAL_GRID.shapes)
    assert all(size > 0 for size in report.bytes_per_shape.values())


@gpu
@needs_cuda
@pytest.mark.parametrize("shape", REAL_GRID.shapes, ids=lambda s: f"{s.batch}x{s.length}")
def test_a_replayed_row_is_answered_as_alone_within_the_bfloat16_tolerance(
    captured: Engine, shape: Shape
) -> None:
    rows = [real_row(max(1, shape.length - 5 * i), seed=i) for i in range(shape.batch)]
    for row, answers in zip(rows, captured.forward(rows, *shape[::-1]), strict=True):
        assert distance(answers, captured.score([row])[0]) <= BFLOAT16_TOLERANCE
    assert captured.counters.eager_forwards == 0


@gpu
@needs_cuda
def test_graphs_answer_alike_in_any_order_of_replay(captured: Engine) -> None:
    rows = {shape: [real_row(shape.length)] for shape in REAL_GRID.shapes}
    turns = [REAL_GRID.shapes, REAL_GRID.shapes[::-1]]
    first, second = (
        {shape: captured.forward(rows[shape], *shape[::-1])[0] for shape in turn} for turn in turns
    )
    assert all(distance(first[shape], second[shape]) == 0 for shape in REAL_GRID.shapes)


@gpu
@needs_cuda
def test_a_shape_without_a_graph_runs_eager_and_is_counted(captured: Engine) -> None:
    rows = [real_row(100, seed=seed) for seed in range(4)]
    eager = captured.forward(rows, 130, batch=4)
    assert captured.counters.eager_forwards == 1
    split = captured.forward(rows, 130)
    assert captured.counters.eager_forwards == 1
    assert captured.counters.splits == 1
    for left, right in zip(eager, split, strict=True):
        assert distance(left, right) <= BFLOAT16_TOLERANCE


@gpu
@needs_cuda
def test_the_gpu_answers_as_the_cpu(tiny: Engine, tiny_model: Any, tmp_path: Path) -> None:
    rows = [real_row(n) for n in (1, 9, 64, 70, 130, 140)]
    expected = tiny.score(rows)
    tiny_model.save_pretrained(tmp_path / "tiny")
    from decider.engine.checkpoint import load_checkpoint

    on_gpu = load_checkpoint(tmp_path / "tiny", device="cuda")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("decider.engine.opening._module", lambda *_: on_gpu)
        with open_engine("tiny", grid=REAL_GRID, device="cuda", dtype="float32") as engine:
            engine.capture()
            for left, right in zip(engine.score(rows), expected, strict=True):
                assert distance(left, right) <= GPU_FLOAT32_TOLERANCE


@gpu
@needs_cuda
def test_out_of_memory_says_so_and_the_engine_still_runs() -> None:
    with open_engine("tiny", grid=REAL_GRID, device="cuda") as engine:
        engine.score([real_row(8)])
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.empty_cache()
        allowed = torch.cuda.memory_reserved() + 2 * 2**20
        torch.cuda.set_per_process_memory_fraction(allowed / total)
        try:
            with pytest.raises(CaptureMemoryError, match="out of device memory capturing"):
                engine.capture()
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
        assert len(engine.score([real_row(8)])) == 1
        assert len(engine.capture().bytes_per_shape) == len(REAL_GRID.shapes)


@pytest.mark.parametrize(
    ("inner", "outer", "expected"),
    [
        (torch.OutOfMemoryError("full"), RuntimeError("capture was invalidated"), True),
        (RuntimeError("CUDA error: out of memory"), RuntimeError("capture failed"), True),
        (ValueError("bad shape"), RuntimeError("capture failed"), False),
    ],
)
def test_memory_is_found_behind_the_error_that_ended_the_capture(
    inner: Exception, outer: Exception, expected: bool
) -> None:
    with pytest.raises(RuntimeError) as caught:  # noqa: PT012  # as the capture's clean-up raises
        try:
            raise inner
        finally:
            raise outer
    assert _is_out_of_memory(caught.value) is expected


def test_the_memory_error_tells_its_bytes() -> None:
    assert str(DeviceMemoryError(reserved=5, free=3)).endswith("5 bytes reserved, 3 free")
