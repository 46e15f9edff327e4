"""Capturing a whole grid: what it took, or why it did not fit.

It knows shapes, bytes and the backend's interface; no rows and no torch.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from decider.engine.backend import Backend, DeviceMemoryError
from decider.engine.ladder import capture_order, fitting_grid
from decider.grid import BATCH_VARIABLE, BUDGET_VARIABLE, LENGTH_VARIABLE, BucketGrid, Shape

Progress = Callable[[int, int, Shape], None]
"""Called after each capture with the shapes done, the shapes in all and the shape."""


class CaptureMemoryError(RuntimeError):
    """The grid does not fit the device. Nothing stays captured.

    Args:
        shape: the shape whose graph did not fit.
        captured: graphs that had fitted before it.
        error: what the device had reserved and free at that moment.
        fitting: a smaller grid that should fit, if any should.
    """

    def __init__(
        self, shape: Shape, captured: int, error: DeviceMemoryError, fitting: BucketGrid | None
    ) -> None:
        super().__init__(
            f"out of device memory capturing {shape.batch} rows of {shape.length} tokens, after "
            f"{captured} graphs, with {_gibibytes(error.reserved)} reserved and "
            f"{_gibibytes(error.free)} free; {_way_out(fitting)}"
        )
        self.shape = shape
        self.reserved = error.reserved
        self.free = error.free
        self.fitting = fitting


@dataclass(frozen=True)
class CaptureReport:
    """What a capture took: seconds, and the device bytes of every graph there is now.

    The first graph holds the pool that the later ones reuse, so its bytes are most of the total.
    A backend without graphs captures nothing and reports no shapes.
    """

    seconds: float
    bytes_per_shape: dict[Shape, int] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int:
        """Device memory of all graphs."""
        return sum(self.bytes_per_shape.values())


def capture_grid(
    backend: Backend, grid: BucketGrid, progress: Progress | None = None
) -> CaptureReport:
    """Capture every shape of the grid that has no graph yet, or leave none captured.

    Raises:
        CaptureMemoryError: the device is full; the message names the shape and a smaller grid.
    """
    start = time.perf_counter()
    if backend.captures:
        try:
            _capture_missing(backend, grid, progress)
        except BaseException:  # an interrupt too: half a grid would run half its forwards eager
            backend.release()
            raise
    return CaptureReport(time.perf_counter() - start, dict(backend.graphs))


def _capture_missing(backend: Backend, grid: BucketGrid, progress: Progress | None) -> None:
    shapes = capture_order(grid)
    for done, shape in enumerate(shapes, start=1):
        if shape not in backend.graphs:
            try:
                backend.capture(shape)
            except DeviceMemoryError as error:
                fitting = fitting_grid(grid, backend.graphs, shape, error.free)
                raise CaptureMemoryError(shape, len(backend.graphs), error, fitting) from error
        if progress is not None:
            progress(done, len(shapes), shape)


def _way_out(fitting: BucketGrid | None) -> str:
    if fitting is None:
        return "no smaller grid should fit: use a smaller model or a larger device"
    lengths = " ".join(map(str, fitting.length_buckets))
    batches = " ".join(map(str, fitting.batch_buckets))
    return (
        f"a smaller grid of {len(fitting.shapes)} shapes should fit, estimated from what was "
        f"captured: {LENGTH_VARIABLE}='{lengths}' {BATCH_VARIABLE}='{batches}' "
        f"{BUDGET_VARIABLE}={fitting.token_budget}"
    )


def _gibibytes(count: int) -> str:
    return f"{count / 2**30:.2f} GiB"
