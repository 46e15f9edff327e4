"""Forwards replayed from CUDA graphs.

Every graph has its own small buffers: inputs in pinned host and in device memory, probabilities
likewise. They are made outside the pool that the graphs share, so the pool holds nothing that must
outlive a replay, and graphs may be replayed in any order, one at a time on one stream.
"""

from __future__ import annotations

import gc
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from decider.engine.backend import DeviceMemoryError
from decider.engine.eager import EagerBackend
from decider.engine.inputs import Inputs, flat_size, parts
from decider.grid import Shape

WARM_UPS = 2
"""Runs before a capture: the first chooses kernels and makes workspaces, which a graph must not."""


@dataclass(frozen=True)
class Graph:
    """One recorded forward and the memory it reads and writes."""

    graph: torch.cuda.CUDAGraph
    host_inputs: torch.Tensor
    inputs: torch.Tensor
    probabilities: torch.Tensor
    host_probabilities: torch.Tensor


class CudaGraphBackend:
    """Replays the captured shapes and runs the others eager.

    Args:
        model: a `DecisionModel` on `device`.
        device: a CUDA device.
        threads: as for `EagerBackend`.
    """

    name = "cuda-graph"
    captures = True

    def __init__(self, model: Any, device: torch.device, threads: int | None) -> None:
        self.model = model
        self._device = device
        self._eager = EagerBackend(model, device, threads)
        self._slots: int = model.limits.max_slots
        self._options: int = model.limits.max_options
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._pool: Any = None
        self._recorded: dict[Shape, Graph] = {}
        self.graphs: dict[Shape, int] = {}

    def start(self) -> None:
        """As for `EagerBackend`."""
        self._eager.start()

    def capture(self, shape: Shape) -> None:
        """Warm the shape up, then record it.

        Raises:
            DeviceMemoryError: no memory is left for it.
        """
        if self._pool is None:
            self._pool = torch.cuda.graph_pool_handle()
        try:
            with torch.inference_mode():
                self._recorded[shape], self.graphs[shape] = self._record(shape)
        except RuntimeError as error:  # torch's own out-of-memory error is one
            if not _is_out_of_memory(error):
                raise
            reserved = torch.cuda.memory_reserved(self._device)
            for link in _chain(error):  # the frames of the failed forward still hold its tensors
                traceback.clear_frames(link.__traceback__)
            gc.collect()
            raise DeviceMemoryError(reserved, self._free_bytes()) from error

    def release(self) -> None:
        """Drop every graph and give its memory back."""
        for graph in self._recorded.values():
            graph.graph.reset()
        self._recorded.clear()
        self.graphs.clear()
        self._pool = None
        gc.collect()
        torch.cuda.empty_cache()

    def inputs(self, shape: Shape) -> Inputs:
        """The graph's pinned buffer, or the eager backend's."""
        graph = self._recorded.get(shape)
        if graph is None:
            return self._eager.inputs(shape)
        return Inputs.over(graph.host_inputs.numpy(), shape, self._slots)

    def run(self, shape: Shape) -> npt.NDArray[np.float32]:
        """One copy in, one replay, one copy out."""
        graph = self._recorded.get(shape)
        if graph is None:
            return self._eager.run(shape)
        with torch.inference_mode(), torch.cuda.stream(self._stream):
            graph.inputs.copy_(graph.host_inputs, non_blocking=True)
            graph.graph.replay()
            graph.host_probabilities.copy_(graph.probabilities, non_blocking=True)
        self._stream.synchronize()
        probabilities: npt.NDArray[np.float32] = graph.host_probabilities.numpy().copy()
        return probabilities

    def _record(self, shape: Shape) -> tuple[Graph, int]:
        """The graph of a shape and its device bytes."""
        host_inputs = torch.empty(flat_size(shape, self._slots), dtype=torch.int64, pin_memory=True)
        Inputs.over(host_inputs.numpy(), shape, self._slots).fill([], unused_options=self._options)
        inputs = host_inputs.to(self._device)
        probabilities = torch.zeros(
            (shape.batch, self._slots, self._options), device=self._device, dtype=torch.float32
        )
        self._warm_up(inputs, shape)
        before = self._free_bytes()
        graph = torch.cuda.CUDAGraph()
        # thread_local: other threads of the process (a server's, NVML's) may use CUDA meanwhile.
        with torch.cuda.graph(
            graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"
        ):
            probabilities.copy_(self.model(*parts(inputs, shape, self._slots)))
        pooled = max(0, before - self._free_bytes())
        host_probabilities = torch.empty(probabilities.shape, dtype=torch.float32, pin_memory=True)
        size = pooled + inputs.nbytes + probabilities.nbytes
        return Graph(graph, host_inputs, inputs, probabilities, host_probabilities), size

    def _warm_up(self, inputs: torch.Tensor, shape: Shape) -> None:
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._stream):
            for _ in range(WARM_UPS):
                self.model(*parts(inputs, shape, self._slots))
        self._stream.synchronize()

    def _free_bytes(self) -> int:
        """Device memory that nobody holds, once this process has given back what it can."""
        torch.cuda.synchronize(self._device)
        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info(self._device)[0]


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether this error, or one it replaced while the capture was torn down, is about memory."""
    return any(
        isinstance(link, torch.OutOfMemoryError) or "out of memory" in str(link).lower()
        for link in _chain(error)
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
