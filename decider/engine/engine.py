"""The engine: groups of rows in, probabilities out.

It checks rows, rounds groups to captured shapes, splits what is too wide and counts what ran. It
knows the grid and a backend; no costs, no plans, no torch.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from decider.engine.backend import Backend
from decider.engine.capture import CaptureReport, Progress, capture_grid
from decider.engine.rows import CheckedRow, Limits, Row, checked_row
from decider.grid import BucketGrid, Shape

Answers = list[npt.NDArray[np.float32]]
"""The answers to one row: for each slot the probabilities of its options."""

FLOAT32_TOLERANCE = 1e-5
"""How far a float32 probability may move when the same row runs in another group. Shapes choose
kernels, kernels choose the order of sums, and float32 keeps 24 significant bits."""

BFLOAT16_TOLERANCE = 2**-5
"""The same in bfloat16, which keeps 8 significant bits: one rounding moves a value by up to 2**-9
of it. A probability moves by at most half of what its logits move, so this allows logits of unit
size 2**-4, or 32 such roundings, over some tens of layers. Reasoned, not yet measured."""


@dataclass
class Counters:
    """What an engine has run since it was opened.

    `eager_forwards` are those that no graph replayed: on the eager backend all of them. `splits`
    are groups that took more than one forward. `padded_tokens` sums batch x length of the forwards.
    """

    forwards: int = 0
    eager_forwards: int = 0
    splits: int = 0
    rows: int = 0
    padded_tokens: int = 0


class Engine:
    """Scores rows on one device.

    One thread owns the device: the first that calls `capture`, `forward` or `score`. While it
    lives, another that calls them is refused; everything else may be called from any thread. Close
    the engine only when nothing runs. `open_engine` makes one.

    Args:
        backend: what runs the forwards.
        grid: the shapes to capture, and the padded lengths of `score`.
        limits: what the model takes.
        description: what `describe` returns.
    """

    def __init__(
        self, backend: Backend, grid: BucketGrid, limits: Limits, description: dict[str, Any]
    ) -> None:
        self.grid = grid
        self.counters = Counters()
        self._backend = backend
        self._limits = limits
        self._description = description
        self._sealed = False
        self._closed = False
        self._owner: threading.Thread | None = None
        self._claiming = threading.Lock()

    @property
    def device(self) -> str:
        """The torch name of the device, such as `cpu` or `cuda:0`."""
        return str(self._description["device"])

    @property
    def model_name(self) -> str:
        """The preset, or the checkpoint folder as it was given."""
        return str(self._description["model"])

    @property
    def model(self) -> Any:
        """The torch module; its `save_pretrained(folder)` writes a folder `open_engine` reads."""
        return self._backend.model

    @property
    def vocabulary_size(self) -> int:
        """Tokens are below this."""
        return self._limits.vocabulary_size

    @property
    def max_options(self) -> int:
        """Outputs of the readout: the most options a slot may have."""
        return self._limits.max_options

    @property
    def max_slots(self) -> int:
        """The most slots a row may have."""
        return self._limits.max_slots

    @property
    def max_row_tokens(self) -> int:
        """The most tokens a row may have: what the model has positions for."""
        return self._limits.max_row_tokens

    def describe(self) -> dict[str, Any]:
        """What a result measured here must carry, as plain JSON values."""
        return dict(self._description)

    def capture(self, progress: Progress | None = None) -> CaptureReport:
        """Capture every shape of the grid that has no graph yet, largest first.

        When it fails or is interrupted no graph stays captured, and the engine runs eager.

        Args:
            progress: called after each capture with the shapes done, all shapes and the shape.

        Raises:
            CaptureMemoryError: the device is full; the message names the shape and a smaller grid.
            RuntimeError: the engine is sealed, closed or owned by another thread.
        """
        self._own()
        if self._sealed:
            raise RuntimeError("the engine is sealed: capture before seal()")
        return capture_grid(self._backend, self.grid, progress)

    def seal(self) -> None:
        """Forbid any later capture: from here on memory for graphs no longer grows."""
        self._sealed = True

    def check(self, row: Row) -> None:
        """Refuse a row the model cannot answer, without running anything.

        Raises:
            ValueError: no tokens or more than the model takes, a token that is no whole number or
                outside the vocabulary, no slots or too many, a slot outside the row, or a number
                of options that the readout does not have. The message names the token or slot.
        """
        checked_row(row, self._limits)

    def forward(self, rows: Sequence[Row], length: int, batch: int | None = None) -> list[Answers]:
        """Answer one group, padded to `length` tokens: host to host, by a graph where there is one.

        A group wider than the widest batch bucket captured at that length runs as several forwards.

        Args:
            rows: at least one; each of at most `length` tokens.
            length: padded length, usually a length bucket.
            batch: rows of the forward, empty ones among them; by default the batch bucket, or just
                the rows above the last length bucket. When given, the group runs as one forward.

        Raises:
            ValueError: no rows, a bad or too long row (the message names its index), or a batch
                smaller than the group. Nothing has run then.
            RuntimeError: the engine is closed or owned by another thread.
        """
        self._own()
        checked = self._checked(rows)
        _check_group(checked, length, batch)
        return self._answer(checked, length, batch)

    def score(self, rows: Sequence[Row]) -> list[Answers]:
        """Answer rows of any lengths, in their order: one group for each padded length.

        Raises:
            ValueError: a bad row; the message names its index. Nothing has run then.
            RuntimeError: the engine is closed or owned by another thread.
        """
        self._own()
        groups: defaultdict[int, list[int]] = defaultdict(list)
        checked = self._checked(rows)
        for index, row in enumerate(checked):
            groups[self.grid.pad_len(len(row.tokens))].append(index)
        answers: list[Answers] = [[] for _ in checked]
        for length, members in groups.items():
            group = self._answer([checked[index] for index in members], length, None)
            for index, answer in zip(members, group, strict=True):
                answers[index] = answer
        return answers

    def close(self) -> None:
        """Drop the graphs; the engine runs nothing more. Closing twice does nothing."""
        if not self._closed:
            self._closed = True
            self._backend.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Engine({self.model_name!r}, {self.device}, {self._backend.name})"

    def _own(self) -> None:
        if self._closed:
            raise RuntimeError("the engine is closed: open another")
        caller = threading.current_thread()
        if self._owner is caller:
            return
        with self._claiming:
            if self._owner is not None and self._owner.is_alive():
                raise RuntimeError(
                    f"the engine belongs to thread {self._owner.name!r} and was called from "
                    f"{caller.name!r}: run every capture and forward in one thread"
                )
            self._backend.start()
            self._owner = caller

    def _checked(self, rows: Sequence[Row]) -> list[CheckedRow]:
        checked = []
        for index, row in enumerate(rows):
            try:
                checked.append(checked_row(row, self._limits))
            except ValueError as error:
                raise ValueError(f"row {index}: {error}") from None
        return checked

    def _answer(self, rows: list[CheckedRow], length: int, batch: int | None) -> list[Answers]:
        answers: list[Answers] = []
        forwards = 0
        for members, shape in self._split(rows, length, batch):
            answers += self._run(members, shape)
            forwards += 1
        self.counters.splits += forwards > 1
        return answers

    def _split(
        self, rows: list[CheckedRow], length: int, batch: int | None
    ) -> Iterator[tuple[list[CheckedRow], Shape]]:
        if batch is not None:
            yield rows, Shape(batch, length)
            return
        widest = self.grid.max_rows(length)
        for first in range(0, len(rows), widest):
            members = rows[first : first + widest]
            bucketed = self.grid.is_bucketed(length)
            size = self.grid.batch_bucket(len(members)) if bucketed else len(members)
            yield members, Shape(size, length)

    def _run(self, rows: list[CheckedRow], shape: Shape) -> list[Answers]:
        self._backend.inputs(shape).fill(rows, unused_options=self.max_options)
        probabilities = self._backend.run(shape)
        self.counters.forwards += 1
        self.counters.eager_forwards += shape not in self._backend.graphs
        self.counters.rows += len(rows)
        self.counters.padded_tokens += shape.batch * shape.length
        return [
            [probabilities[index, slot, :options] for slot, options in enumerate(row.options)]
            for index, row in enumerate(rows)
        ]


def _check_group(rows: list[CheckedRow], length: int, batch: int | None) -> None:
    if not rows:
        raise ValueError("a forward needs at least one row")
    for index, row in enumerate(rows):
        if len(row.tokens) > length:
            raise ValueError(
                f"row {index}: {len(row.tokens)} tokens do not fit the padded length {length}"
            )
    if batch is not None and batch < len(rows):
        raise ValueError(f"{len(rows)} rows do not fit a batch of {batch}")
