"""Splitting, eager fallback, slot gathering, counting and owning, on a fake graph backend."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decider.engine import Engine, Row, Slot
from decider.grid import BucketGrid, Shape
from tests.engine.fakes import GRID, LIMITS, FakeGraphBackend, fake_answer, fake_engine, some_row


def captured_engine(grid: BucketGrid = GRID) -> tuple[Engine, FakeGraphBackend]:
    backend = FakeGraphBackend()
    engine = fake_engine(backend, grid)
    engine.capture()
    engine.seal()
    return engine, backend


def assert_answers(rows: list[Row], answers: list[Any]) -> None:
    assert len(answers) == len(rows)
    for row, answer in zip(rows, answers, strict=True):
        expected = fake_answer(row)
        assert [len(slot) for slot in answer] == [slot.options for slot in row.slots]
        for found, wanted in zip(answer, expected, strict=True):
            assert found.dtype == np.float32
            assert found == pytest.approx(wanted, abs=1e-6)


def test_a_group_runs_as_one_forward_of_its_batch_bucket() -> None:
    engine, backend = captured_engine()
    rows = [some_row(n) for n in (3, 8, 1)]
    assert_answers(rows, engine.forward(rows, 8))
    assert backend.ran == [Shape(4, 8)]
    assert engine.counters.forwards == 1
    assert engine.counters.eager_forwards == 0
    assert engine.counters.rows == 3
    assert engine.counters.padded_tokens == 32
    assert engine.counters.splits == 0


def test_a_group_may_run_longer_and_wider_than_it_needs() -> None:
    engine, backend = captured_engine()
    rows = [some_row(3)]
    assert_answers(rows, engine.forward(rows, 16, batch=2))
    assert backend.ran == [Shape(2, 16)]


def test_a_group_wider_than_the_widest_captured_bucket_is_split_into_captured_ones() -> None:
    engine, backend = captured_engine()
    rows = [some_row(16, seed=seed) for seed in range(5)]
    assert_answers(rows, engine.forward(rows, 16))
    assert backend.ran == [Shape(2, 16), Shape(2, 16), Shape(1, 16)]
    assert engine.counters.splits == 1
    assert engine.counters.eager_forwards == 0


def test_a_shape_without_a_graph_runs_eager_and_is_counted() -> None:
    engine, backend = captured_engine()
    rows = [some_row(5), some_row(6)]
    assert_answers(rows, engine.forward(rows, 8, batch=3))
    assert_answers(rows, engine.forward(rows, 7))
    assert backend.ran == [Shape(3, 8), Shape(2, 7)]
    assert engine.counters.eager_forwards == 2
    assert engine.counters.splits == 0


def test_before_capture_everything_runs_eager() -> None:
    engine = fake_engine(FakeGraphBackend())
    rows = [some_row(5)]
    assert_answers(rows, engine.score(rows))
    assert engine.counters.eager_forwards == engine.counters.forwards == 1


def test_rows_above_the_last_bucket_run_eager_in_chunks_within_the_token_budget() -> None:
    engine, backend = captured_engine(
        BucketGrid(length_buckets=(4, 8), batch_buckets=(1, 2, 4, 8), token_budget=64, long_step=10)
    )
    rows = [some_row(n, seed=n) for n in (11, 19, 20, 14, 12, 9)]
    assert_answers(rows, engine.score(rows))
    assert backend.ran == [Shape(3, 20), Shape(2, 20), Shape(1, 10)]
    assert engine.counters.eager_forwards == 3
    assert engine.counters.splits == 1


def test_score_answers_in_row_order_with_one_group_a_length_bucket() -> None:
    engine, backend = captured_engine()
    rows = [some_row(n, seed=i) for i, n in enumerate((16, 2, 8, 3, 16, 5))]
    assert_answers(rows, engine.score(rows))
    assert backend.ran == [Shape(2, 16), Shape(2, 4), Shape(2, 8)]


def test_scoring_nothing_answers_nothing() -> None:
    engine, backend = captured_engine()
    assert engine.score([]) == []
    assert backend.ran == []


rows_of_any_length = st.lists(
    st.integers(1, 40).flatmap(
        lambda n: st.builds(
            Row,
            st.lists(st.integers(0, LIMITS.vocabulary_size - 1), min_size=n, max_size=n),
            st.lists(
                st.builds(Slot, st.integers(0, n - 1), st.integers(2, LIMITS.max_options)),
                min_size=1,
                max_size=LIMITS.max_slots,
            ),
        )
    ),
    max_size=12,
)


@settings(max_examples=50)
@given(
    rows=rows_of_any_length,
    lengths=st.sets(st.integers(1, 24), min_size=1, max_size=3),
    batches=st.sets(st.integers(1, 6), max_size=3),
    budget=st.integers(1, 80),
)
def test_any_rows_on_any_grid_get_their_own_answers(
    rows: list[Row], lengths: set[int], batches: set[int], budget: int
) -> None:
    grid = BucketGrid(tuple(sorted(lengths)), tuple(sorted({1, *batches})), budget, long_step=7)
    engine, backend = captured_engine(grid)
    assert_answers(rows, engine.score(rows))
    counters = engine.counters
    assert counters.rows == len(rows)
    assert counters.forwards == len(backend.ran)
    assert counters.padded_tokens == sum(batch * length for batch, length in backend.ran)
    assert counters.eager_forwards == sum(s not in set(grid.shapes) for s in backend.ran)
    for shape in backend.ran:
        assert shape.batch == 1 or shape.batch * shape.length <= budget
        assert grid.is_bucketed(shape.length) == (shape in set(grid.shapes))


def test_a_bad_row_is_named_and_nothing_runs() -> None:
    engine, backend = captured_engine()
    rows = [some_row(3), Row([1, 2], [Slot(2, 2)])]
    for call in (lambda: engine.score(rows), lambda: engine.forward(rows, 4)):
        with pytest.raises(ValueError, match="row 1: slot 0: position 2 is outside 2 tokens"):
            call()
    assert backend.ran == []
    assert engine.counters.rows == 0


def test_check_refuses_a_bad_row_without_running_anything() -> None:
    engine, backend = captured_engine()
    engine.check(some_row(3))
    with pytest.raises(ValueError, match="no tokens"):
        engine.check(Row([], [Slot(0, 2)]))
    assert backend.ran == []


@pytest.mark.parametrize(
    ("sizes", "length", "batch", "message"),
    [
        ([], 8, None, "at least one row"),
        ([4, 5], 4, None, "row 1: 5 tokens do not fit the padded length 4"),
        ([4, 4, 4], 8, 2, "3 rows do not fit a batch of 2"),
    ],
)
def test_a_group_that_does_not_fit_its_shape_is_refused(
    sizes: list[int], length: int, batch: int | None, message: str
) -> None:
    engine, backend = captured_engine()
    with pytest.raises(ValueError, match=message):
        engine.forward([some_row(n) for n in sizes], length, batch)
    assert backend.ran == []


def test_a_sealed_engine_captures_nothing_more() -> None:
    backend = FakeGraphBackend()
    engine = fake_engine(backend)
    engine.seal()
    with pytest.raises(RuntimeError, match="sealed"):
        engine.capture()
    assert backend.graphs == {}


def test_a_closed_engine_runs_nothing_more_and_holds_no_graphs() -> None:
    with captured_engine()[0] as engine:
        backend: Any = engine._backend
    engine.close()
    assert backend.graphs == {}
    for call in (lambda: engine.score([]), engine.capture):
        with pytest.raises(RuntimeError, match="closed"):
            call()


def in_thread(call: Any, name: str) -> list[BaseException]:
    """What `call` raised in a thread of that name."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except RuntimeError as error:
            raised.append(error)

    thread = threading.Thread(target=run, name=name)
    thread.start()
    thread.join()
    return raised


def test_another_thread_is_refused_while_the_owner_lives() -> None:
    engine, backend = captured_engine()
    raised = in_thread(lambda: engine.score([some_row(3)]), "intruder")
    assert "belongs to thread 'MainThread'" in str(raised[0])
    assert "'intruder'" in str(raised[0])
    assert backend.ran == []
    assert in_thread(lambda: engine.check(some_row(3)), "checker") == []


def test_the_first_thread_that_runs_owns_and_an_ended_one_is_followed() -> None:
    backend = FakeGraphBackend()
    engine = fake_engine(backend)
    assert backend.started == 0
    assert in_thread(engine.capture, "first") == []
    engine.score([some_row(3)])
    engine.score([some_row(3)])
    assert backend.started == 2


def test_an_engine_says_what_it_takes() -> None:
    engine = fake_engine(FakeGraphBackend())
    assert engine.vocabulary_size == LIMITS.vocabulary_size
    assert engine.max_options == LIMITS.max_options
    assert engine.max_slots == LIMITS.max_slots
    assert engine.max_row_tokens == LIMITS.max_row_tokens
    assert (engine.model_name, engine.device) == ("fake", "nowhere")
    assert engine.describe() == {"model": "fake", "device": "nowhere"}
    assert repr(engine) == "Engine('fake', nowhere, fake)"
