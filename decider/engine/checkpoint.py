"""Reading a checkpoint folder, or saying plainly why it cannot be read.

The folder is one that `DecisionModel.save_pretrained` wrote. Every file is looked at before a
weight is loaded, so that each fault is one sentence about one file. Nothing is ever downloaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import nn
from transformers.utils import logging

from decider.engine.model import DecisionConfig, DecisionModel

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"

WAY_OUT = "write the folder again with DecisionModel.save_pretrained"


def load_checkpoint(folder: Path | str, *, device: str = "cpu", dtype: str = "float32") -> Any:
    """The `DecisionModel` in a checkpoint folder.

    Raises:
        ValueError: a file is missing, unreadable, cut short, or does not match the configuration.
            The message names the file and the way out.
    """
    folder = Path(folder)
    config = _config(folder / CONFIG)
    _check_weights(folder, _expected_shapes(folder / CONFIG, config))
    with _no_progress_bar():
        model: nn.Module = DecisionModel.from_pretrained(
            folder, config=config, dtype=getattr(torch, dtype), local_files_only=True
        )
    return model.to(device).eval().requires_grad_(False)


def _config(path: Path) -> DecisionConfig:
    values = _json(path)
    kind = values.get("model_type")
    if kind != DecisionConfig.model_type:
        raise _fault(path, f"model type {kind!r} is not {DecisionConfig.model_type!r}")
    try:
        return DecisionConfig.from_dict(values)
    except Exception as error:  # each field's validator has errors of its own
        raise _fault(path, f"refused: {error}") from None


def _expected_shapes(path: Path, config: DecisionConfig) -> dict[str, tuple[int, ...]]:
    try:
        with torch.device("meta"):
            model: nn.Module = DecisionModel(config)
    except Exception as error:  # whatever the layer that cannot be built says
        raise _fault(path, f"no model has this configuration: {error}") from None
    return {name: tuple(weight.shape) for name, weight in model.state_dict().items()}


def _check_weights(folder: Path, expected: dict[str, tuple[int, ...]]) -> None:
    found: set[str] = set()
    files = _weight_files(folder)
    for path in files:
        for name, shape in _shapes(path).items():
            if name not in expected:
                raise _fault(path, f"weight {name!r} belongs to no layer of this model")
            if shape != expected[name]:
                raise _fault(
                    path, f"weight {name!r} has shape {shape}; {CONFIG} asks for {expected[name]}"
                )
            found.add(name)
    if missing := sorted(set(expected) - found):
        raise _fault(files[0], f"no weight {missing[0]!r} ({len(missing)} missing in all)")


def _weight_files(folder: Path) -> list[Path]:
    if (folder / WEIGHTS).exists() or not (folder / INDEX).exists():
        return [folder / WEIGHTS]
    shards = _json(folder / INDEX).get("weight_map")
    if not isinstance(shards, dict) or not shards:
        raise _fault(folder / INDEX, "no weight_map")
    return [folder / str(name) for name in sorted(set(shards.values()))]


def _shapes(path: Path) -> dict[str, tuple[int, ...]]:
    try:
        with safe_open(path, framework="pt") as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise _fault(path, "missing") from None
    except (SafetensorError, OSError) as error:
        raise _fault(path, f"cut short or no safetensors file: {error}") from None


def _json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise _fault(path, "missing") from None
    except (OSError, ValueError) as error:
        raise _fault(path, f"unreadable: {error}") from None
    if not isinstance(values, dict):
        raise _fault(path, f"holds {type(values).__name__}, not an object")
    return values


def _fault(path: Path, what: str) -> ValueError:
    return ValueError(f"{path}: {what}; {WAY_OUT}")


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
