"""A graph backend without a device, and the slow, obvious answer to each of its rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from decider.engine.backend import DeviceMemoryError
from decider.engine.engine import Engine
from decider.engine.inputs import Inputs, flat_size
from decider.engine.rows import Limits, Row, Slot
from decider.grid import BucketGrid, Shape

LIMITS = Limits(vocabulary_size=50, max_options=6, max_slots=3, max_row_tokens=64)
GRID = BucketGrid(length_buckets=(4, 8, 16), batch_buckets=(1, 2, 4), token_budget=32, long_step=10)


class FakeGraphBackend:
    """Answers from the tokens up to each slot, and keeps which shapes ran, by a graph or not.

    The first graph takes `per_token` bytes a token and every graph `per_graph`, out of `capacity`.
    """

    name = "fake"
    model = None
    captures = True

    def __init__(
        self,
        limits: Limits = LIMITS,
        *,
        capacity: float = math.inf,
        per_token: int = 10,
        per_graph: int = 7,
    ) -> None:
        self.graphs: dict[Shape, int] = {}
        self.ran: list[Shape] = []
        self.started = 0
        self._limits = limits
        self._capacity = capacity
        self._per_token, self._per_graph = per_token, per_graph
        self._inputs: dict[Shape, Inputs] = {}

    def start(self) -> None:
        self.started += 1

    def capture(self, shape: Shape) -> None:
        pool = 0 if self.graphs else self._per_token * shape.batch * shape.length
        used = sum(self.graphs.values())
        if used + pool + self._per_graph > self._capacity:
            raise DeviceMemoryError(reserved=used, free=int(self._capacity - used))
        self.graphs[shape] = pool + self._per_graph

    def release(self) -> None:
        self.graphs.clear()

    def inputs(self, shape: Shape) -> Inputs:
        if shape not in self._inputs:
            dirty = np.full(flat_size(shape, self._limits.max_slots), -9, dtype=np.int64)
            self._inputs[shape] = Inputs.over(dirty, shape, self._limits.max_slots)
        return self._inputs[shape]

    def run(self, shape: Shape) -> npt.NDArray[np.float32]:
        self.ran.append(shape)
        inputs = self._inputs[shape]
        weights = np.arange(1, shape.length + 1)
        prefixes = (inputs.tokens * weights).cumsum(axis=1).reshape(-1)[inputs.places]
        outputs = np.arange(self._limits.max_options)
        scores = np.exp(np.sin((prefixes[..., None] % 1009) * (outputs + 1.0)))
        scores[outputs >= inputs.options[..., None]] = 0
        probabilities: npt.NDArray[np.float32] = np.float32(
            scores / scores.sum(axis=-1, keepdims=True)
        )
        return probabilities


def fake_engine(
    backend: FakeGraphBackend, grid: BucketGrid = GRID, limits: Limits = LIMITS
) -> Engine:
    return Engine(backend, grid, limits, {"model": "fake", "device": "nowhere"})


def fake_answer(row: Row) -> list[list[float]]:
    """What a `FakeGraphBackend` must say of the row, one slot and one option at a time."""
    answers = []
    for position, options in row.slots:
        prefix = sum((index + 1) * token for index, token in enumerate(row.tokens[: position + 1]))
        scores = [math.exp(math.sin((prefix % 1009) * (option + 1))) for option in range(options)]
        answers.append([score / sum(scores) for score in scores])
    return answers


def some_row(tokens: int, seed: int = 0, vocabulary: int = 50, options: int = 5) -> Row:
    """A row of random tokens with a slot at its last token and one in its middle."""
    generator = np.random.default_rng((seed, tokens))
    values: Sequence[int] = generator.integers(vocabulary, size=tokens).tolist()
    return Row(values, [Slot(tokens - 1, options), Slot(tokens // 2, 2)])
