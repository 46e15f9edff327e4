"""The interface between the engine and what runs a forward.

An engine splits, packs and counts; a backend owns the memory, the model and the device. This file
knows no torch, so that the engine can be tested without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from decider.engine.inputs import Inputs
from decider.grid import Shape


class DeviceMemoryError(RuntimeError):
    """The device has no memory left for one more graph.

    Args:
        reserved: bytes the process held on the device at that moment.
        free: bytes the device had left, too few for the graph.
    """

    def __init__(self, reserved: int, free: int) -> None:
        super().__init__(f"out of device memory: {reserved} bytes reserved, {free} free")
        self.reserved = reserved
        self.free = free


class Backend(Protocol):
    """Runs forwards of one model on one device. Only the thread that called `start` calls the rest.

    `model` is the torch module, and `captures` says whether `capture` does anything.
    """

    name: str
    model: Any
    captures: bool

    @property
    def graphs(self) -> Mapping[Shape, int]:
        """Device bytes of every shape captured so far, in the order of capture."""
        ...

    def start(self) -> None:
        """Make the calling thread the one that runs forwards: its device, its torch threads."""

    def capture(self, shape: Shape) -> None:
        """Record the graph of a shape and enter it in `graphs`.

        Raises:
            DeviceMemoryError: it does not fit; earlier graphs are as they were.
        """

    def release(self) -> None:
        """Drop every graph and give its memory back."""

    def inputs(self, shape: Shape) -> Inputs:
        """Where to write the inputs of the next forward of this shape; what they hold is old."""

    def run(self, shape: Shape) -> npt.NDArray[np.float32]:
        """One forward of what was written to `inputs(shape)`, by its graph if there is one.

        Returns probabilities of shape (batch, slots, options), the caller's to keep.
        """
        ...
