"""Answers that were swapped, doubled, changed or broken are found; right ones are not accused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.engine.rows import Row, Slot
from decider.serve.answer_check import (
    NUMBERS,
    OPTIONS,
    NumberedRows,
    RepeatedRows,
    flat_answer,
    numbered_answer,
)
from decider.serve.traffic import RowName


def model(row: Row) -> list[list[float]]:
    """An answer that depends on every token."""
    weights = [1 + sum((i + 1) * token for i, token in enumerate(row.tokens)) % (97 + option)
               for option in range(OPTIONS)]  # fmt: skip
    return [[weight / sum(weights) for weight in weights]]


def names(count: int) -> list[RowName]:
    return [RowName(5 + k % 7, k) for k in range(count)]


def test_equal_names_are_equal_rows_and_different_names_are_not():
    check = RepeatedRows(seed=1, tolerance=1e-5)
    rows = [check.row(name).row for name in names(20)]
    assert rows == [check.row(name).row for name in names(20)]
    assert rows == [RepeatedRows(1, 0.1).row(name).row for name in names(20)]
    assert len({tuple(row.tokens) for row in rows}) == 20
    assert [len(row.tokens) for row in rows] == [name.tokens for name in names(20)]
    assert all(row.slots == (Slot(len(row.tokens) - 1, OPTIONS),) for row in rows)


@pytest.mark.parametrize("check", [RepeatedRows(0, 1e-5), NumberedRows()])
def test_right_answers_are_right(check):
    answer = model if isinstance(check, RepeatedRows) else numbered_answer
    for name in [*names(10), *names(10)]:
        sent = check.row(name)
        check.see(sent, answer(sent.row))
    tally = check.tally()
    assert (tally.right, tally.wrong, tally.unverified) == (20, 0, 0)


@given(st.permutations(range(12)))
def test_every_swap_of_repeated_rows_is_found(order):
    check = RepeatedRows(0, 1e-5)
    first = [check.row(name) for name in names(12)]
    for sent in first:
        check.see(sent, model(sent.row))
    for sent, other in zip(first, order, strict=True):
        check.see(sent, model(first[other].row))
    moved = sum(place != other for place, other in enumerate(order))
    assert check.tally().wrong == moved
    assert check.tally().alike == 0


@given(st.permutations(range(12)))
def test_every_swap_of_numbered_rows_is_found_at_once(order):
    check = NumberedRows()
    sent = [check.row(RowName(3, 0)) for _ in range(12)]
    for one, other in zip(sent, order, strict=True):
        check.see(one, numbered_answer(sent[other].row))
    assert check.tally().wrong == sum(place != other for place, other in enumerate(order))


def test_a_row_answered_once_is_unverified_and_a_drift_within_the_tolerance_is_right():
    check = RepeatedRows(0, tolerance=0.01)
    once, twice = (check.row(name) for name in names(2))
    check.see(once, [[0.25, 0.25, 0.25, 0.25]])
    check.see(twice, [[0.4, 0.2, 0.2, 0.2]])
    check.see(twice, [[0.395, 0.205, 0.2, 0.2]])
    assert (check.tally().right, check.tally().wrong, check.tally().unverified) == (2, 0, 1)
    check.see(twice, [[0.38, 0.22, 0.2, 0.2]])
    assert check.tally().wrong == 1
    assert "row 1 of 6 tokens" in check.tally().examples[0]


def test_rows_whose_swap_would_not_be_seen_are_counted():
    check = RepeatedRows(0, tolerance=0.01)
    answers = (
        [0.4, 0.2, 0.2, 0.2],
        [0.405, 0.195, 0.2, 0.2],
        [0.4, 0.3, 0.1, 0.2],
        [0.1] * 3 + [0.7],
    )
    for name, answer in zip(names(4), answers, strict=True):
        check.see(check.row(name), [answer])
    assert check.tally().alike == 2


@pytest.mark.parametrize(
    "broken",
    [None, [], "text", [[0.5, 0.5]], [[0.25] * 4, [0.25] * 4], [[math.nan] * 4], [[1, 1, 1, 1]],
     [[2, -1, 0, 0]], [[None] * 4]],
)  # fmt: skip
@pytest.mark.parametrize("check", [RepeatedRows(0, 1e-5), NumberedRows()])
def test_what_is_no_answer_is_wrong(check, broken):
    before = check.tally().wrong
    check.see(check.row(RowName(4, 0)), broken)
    assert check.tally().wrong == before + 1
    assert flat_answer(broken) is None


def test_check_values_differ_as_long_as_numbers_do():
    rows = [Row([number], (Slot(0, OPTIONS),)) for number in range(0, NUMBERS, 4_099)]
    values = {numbered_answer(row)[0][0] for row in rows}
    assert len(values) == len(rows)
    assert all(np.float32(value) == value for value in values)


def test_examples_are_few():
    check = NumberedRows()
    for _ in range(100):
        check.see(check.row(RowName(1, 0)), None)
    assert len(check.tally().examples) == 5
    assert check.tally().wrong == 100
