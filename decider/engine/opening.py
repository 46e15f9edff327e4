"""`open_engine`: from names to an engine. It loads torch when called, not when imported."""

from __future__ import annotations

import importlib.util
import logging
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decider.engine.engine import Engine
from decider.engine.presets import PRESETS
from decider.grid import CPU_GRID, BucketGrid

if TYPE_CHECKING:
    import torch

BACKENDS = ("auto", "eager", "cuda-graph")
DTYPES = ("float32", "bfloat16", "float16")


def open_engine(
    model: str | Path = "tiny",
    *,
    grid: BucketGrid | None = None,
    device: str = "auto",
    dtype: str | torch.dtype | None = None,
    threads: int | None = None,
    seed: int = 0,
    backend: str = "auto",
) -> Engine:
    """Load a model and make it ready to score rows; `Engine.capture` is for the caller.

    Args:
        model: a preset (`tiny`, `2b`) or a checkpoint folder written by `save_pretrained`.
        grid: the shapes to capture; `CPU_GRID` on the CPU and `BucketGrid()` on CUDA.
        device: `cpu`, `cuda`, `cuda:1`, or `auto`: CUDA where there is one.
        dtype: `float32`, `bfloat16` or `float16`; float32 on the CPU and bfloat16 on CUDA.
        threads: torch's threads, set process-wide by the thread that runs the first forward; 1 on
            the CPU, and left alone on CUDA.
        seed: of a preset's weights.
        backend: `eager`, `cuda-graph`, or `auto`: graphs on CUDA.

    Raises:
        ValueError: an unknown or unusable value; a checkpoint that cannot be read. The message
            names it and the way out.
    """
    target = _device(device)
    kind = _backend(backend, target)
    number = _dtype(dtype, target)
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    if target.type == "cpu":
        threads = threads or 1
        # The faster kernels it recommends need a GPU.
        logging.getLogger("transformers.integrations.hub_kernels").setLevel(logging.ERROR)
    module = _module(model, str(target), number, seed)
    if grid is None:
        grid = CPU_GRID if target.type == "cpu" else BucketGrid()
    return Engine(
        kind(module, target, threads),
        grid,
        module.limits,
        _description(model, module, target, number, threads, seed, kind.name),
    )


def _device(name: str) -> torch.device:
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        target = torch.device(name)
    except RuntimeError:
        raise ValueError(f"no device {name!r}; give auto, cpu, cuda or cuda:N") from None
    if target.type not in ("cpu", "cuda"):
        raise ValueError(f"device {name!r} is not supported; give auto, cpu, cuda or cuda:N")
    if target.type == "cpu":
        return torch.device("cpu")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    index = 0 if target.index is None else target.index
    if index >= count:
        raise ValueError(f"device {name!r}: torch sees {count} CUDA devices; try device='cpu'")
    return torch.device("cuda", index)


def _backend(name: str, target: torch.device) -> Any:
    from decider.engine.cuda_graph import CudaGraphBackend
    from decider.engine.eager import EagerBackend

    if name not in BACKENDS:
        raise ValueError(f"no backend {name!r}; known: {', '.join(BACKENDS)}")
    if name == "cuda-graph" and target.type != "cuda":
        raise ValueError("backend 'cuda-graph' needs a CUDA device; on the CPU use 'eager'")
    graphs = name == "cuda-graph" or (name == "auto" and target.type == "cuda")
    return CudaGraphBackend if graphs else EagerBackend


def _dtype(dtype: str | torch.dtype | None, target: torch.device) -> str:
    if dtype is None:
        return "float32" if target.type == "cpu" else "bfloat16"
    name = str(dtype).removeprefix("torch.")
    if name not in DTYPES:
        raise ValueError(f"no dtype {name!r}; known: {', '.join(DTYPES)}")
    return name


def _module(model: str | Path, device: str, dtype: str, seed: int) -> Any:
    from decider.engine.checkpoint import load_checkpoint
    from decider.engine.model import build_preset

    if str(model) in PRESETS:
        return build_preset(str(model), device=device, dtype=dtype, seed=seed)
    if not Path(model).is_dir():
        known = ", ".join(PRESETS)
        raise ValueError(f"model {str(model)!r} is neither a preset ({known}) nor a folder")
    return load_checkpoint(model, device=device, dtype=dtype)


def _description(
    model: str | Path,
    module: Any,
    target: torch.device,
    dtype: str,
    threads: int | None,
    seed: int,
    backend: str,
) -> dict[str, Any]:
    import torch
    import transformers

    preset = str(model) in PRESETS
    if target.type == "cpu":
        name = platform.processor() or platform.machine()
    else:
        name = torch.cuda.get_device_name(target)
    return {
        "model": str(model),
        "seed": seed if preset else None,
        "parameters": sum(weight.numel() for weight in module.parameters()),
        "dtype": dtype,
        "device": str(target),
        "device_name": name,
        "backend": backend,
        "threads": torch.get_num_threads() if threads is None else threads,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "kernels": [
            name for name in ("fla", "causal_conv1d") if importlib.util.find_spec(name) is not None
        ],
    }
