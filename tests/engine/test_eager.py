"""The real eager backend on the CPU: a row's answer does not depend on its group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decider.engine import Engine, Row, Slot
from decider.engine.engine import FLOAT32_TOLERANCE
from decider.grid import Shape
from tests.engine.conftest import REAL_GRID
from tests.engine.fakes import some_row
from tests.engine.test_model import plain_answers

LONGEST = REAL_GRID.length_buckets[-1]


def real_row(tokens: int, seed: int = 0) -> Row:
    return some_row(tokens, seed, vocabulary=1_024, options=32)


def distance(left: list[Any], right: list[Any]) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("shape", REAL_GRID.shapes, ids=lambda s: f"{s.batch}x{s.length}")
def test_at_every_shape_a_row_is_answered_as_if_it_were_bare(
    tiny: Engine, tiny_model: Any, shape: Shape
) -> None:
    """Bare: transformers' own forward over the unpadded row alone."""
    rows = [real_row(max(1, shape.length - 5 * i), seed=i) for i in range(shape.batch)]
    bare = [plain_answers(tiny_model, row) for row in rows]
    for turn in (slice(None), slice(None, None, -1), slice(1)):
        answers = tiny.forward(rows[turn], shape.length, shape.batch)
        for found, wanted in zip(answers, bare[turn], strict=True):
            assert distance(found, wanted) <= FLOAT32_TOLERANCE


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lengths=st.lists(st.integers(1, LONGEST + 20), min_size=1, max_size=4), seed=st.integers(0))
def test_any_group_answers_each_row_as_alone(tiny: Engine, lengths: list[int], seed: int) -> None:
    rows = [real_row(length, seed=seed + i) for i, length in enumerate(lengths)]
    for row, answers in zip(rows, tiny.score(rows), strict=True):
        assert distance(answers, tiny.score([row])[0]) <= FLOAT32_TOLERANCE


def test_probabilities_are_float32_vectors_over_each_slots_options(tiny: Engine) -> None:
    row = Row([1, 2, 3], [Slot(0, 2), Slot(2, 32), Slot(2, 5)])
    answers = tiny.score([row])[0]
    assert [(a.shape, a.dtype) for a in answers] == [((n,), np.float32) for n in (2, 32, 5)]
    assert all(answer.sum() == pytest.approx(1) for answer in answers)
    assert answers[2] == pytest.approx(answers[1][:5] / answers[1][:5].sum())


def test_answers_stay_when_the_engine_runs_on(tiny: Engine) -> None:
    first = tiny.score([real_row(20)])[0]
    kept = [answer.copy() for answer in first]
    tiny.score([real_row(20, seed=1)])
    assert distance(first, kept) == 0


def test_there_is_nothing_to_capture_and_every_forward_counts_as_eager(tiny: Engine) -> None:
    assert tiny.capture().bytes_per_shape == {}
    tiny.seal()
    tiny.score([real_row(5), real_row(9)])
    assert tiny.counters.eager_forwards == tiny.counters.forwards == 2


def test_the_owner_runs_with_the_threads_it_was_opened_with(tiny: Engine) -> None:
    tiny.score([real_row(5)])
    assert torch.get_num_threads() == tiny.describe()["threads"] == 1
