from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.serve.errors import RowsFailedError
from decider.serve.requests import Request, RowQueue
from tests.serve.fakes import row


def request(rows: int) -> Request:
    loop = asyncio.new_event_loop()
    made = Request([row(1) for _ in range(rows)], loop.create_future(), arrived=0)
    loop.close()
    return made


def test_a_request_ends_with_its_last_row_and_keeps_their_order() -> None:
    asked = request(3)
    ends = [asked.answer(2, "c"), asked.answer(0, "a"), asked.answer(1, "b")]
    assert ends == [False, False, True]
    assert asked.answered.result() == ["a", "b", "c"]


def test_a_failed_row_does_not_take_the_answers_of_the_others() -> None:
    asked = request(3)
    assert not asked.fail_row(1, "poison")
    assert not asked.answer(0, "a")
    assert asked.answer(2, "c")
    with pytest.raises(RowsFailedError, match="1 of 3 rows failed: row 1: poison") as caught:
        asked.answered.result()
    assert caught.value.answers == ["a", None, "c"]


def test_a_request_that_nobody_waits_for_ends_silently() -> None:
    asked = request(1)
    asked.answered.cancel()
    assert not asked.answer(0, "a")
    assert not asked.fail(RuntimeError("late"))


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("join"), st.integers(1, 4)),
            st.tuples(st.just("leave"), st.integers(0, 30)),
        ),
        max_size=40,
    )
)
def test_the_queue_is_a_list_that_rows_leave_from_anywhere(steps: list[tuple[str, int]]) -> None:
    queue, oracle, ever = RowQueue(), [], []
    for step, number in steps:
        if step == "join":
            rows = request(number).rows
            queue.join(rows)
            oracle += rows
            ever += rows
        elif ever:
            gone = [ever[number % len(ever)]]
            assert queue.leave(gone) == (gone[0] in oracle)
            oracle = [waiting for waiting in oracle if waiting not in gone]
        assert list(queue) == oracle
        assert len(queue) == len(oracle)
        assert queue.oldest(3) == oracle[:3]
        assert queue.holds_several_requests() == (len({id(w.request) for w in oracle}) > 1)
