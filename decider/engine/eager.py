"""Forwards run operation by operation: any device, any shape."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from decider.engine.inputs import Inputs, flat_size, parts
from decider.grid import Shape


class EagerBackend:
    """Runs the model as it stands. There is nothing to capture.

    Args:
        model: a `DecisionModel` on `device`.
        device: where it is.
        threads: torch's threads for operations, process-wide; None leaves them as they are.
    """

    name = "eager"
    captures = False
    graphs: Mapping[Shape, int] = MappingProxyType({})

    def __init__(self, model: Any, device: torch.device, threads: int | None) -> None:
        self.model = model
        self._device = device
        self._threads = threads
        self._slots: int = model.limits.max_slots
        self._flat = torch.empty(0, dtype=torch.int64)

    def start(self) -> None:
        """Set torch's threads, and the calling thread's CUDA device."""
        if self._threads is not None:
            torch.set_num_threads(self._threads)
        if self._device.type == "cuda":
            torch.cuda.set_device(self._device)

    def capture(self, shape: Shape) -> None:
        """Nothing to do."""

    def release(self) -> None:
        """Nothing is held."""

    def inputs(self, shape: Shape) -> Inputs:
        """Host memory for one forward, pinned for a CUDA device."""
        size = flat_size(shape, self._slots)
        if len(self._flat) < size:
            pinned = self._device.type == "cuda"
            self._flat = torch.empty(size, dtype=torch.int64, pin_memory=pinned)
        return Inputs.over(self._flat.numpy(), shape, self._slots)

    def run(self, shape: Shape) -> npt.NDArray[np.float32]:
        """One copy in, the model, one copy out."""
        with torch.inference_mode():
            flat = self._flat[: flat_size(shape, self._slots)].to(self._device, non_blocking=True)
            probabilities: torch.Tensor = self.model(*parts(flat, shape, self._slots))
            return probabilities.cpu().numpy()
