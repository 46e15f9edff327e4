"""Bad rows are refused by name; good ones come back as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.engine.rows import Limits, Row, Slot, checked_row

LIMITS = Limits(vocabulary_size=100, max_options=8, max_slots=2, max_row_tokens=12)


def test_a_good_row_comes_back_as_arrays() -> None:
    row = checked_row(Row([5, 0, 99], [Slot(2, 8), Slot(0, 2)]), LIMITS)
    assert row.tokens.tolist() == [5, 0, 99]
    assert row.positions.tolist() == [2, 0]
    assert row.options.tolist() == [8, 2]


@pytest.mark.parametrize(
    "tokens", [(1, 2), range(2), np.array([1, 2], dtype=np.uint8), np.array([1, 2])]
)
def test_tokens_may_be_any_sequence_of_whole_numbers(tokens: Any) -> None:
    assert checked_row(Row(tokens, [Slot(1, 2)]), LIMITS).tokens.dtype == np.int64


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "no tokens"),
        (list(range(13)), "13 tokens: the model takes at most 12"),
        ([1, 100], "token 100 at index 1 is outside the vocabulary of 100"),
        ([1, -1], "token -1 at index 1 is outside"),
        ([0, 2**63], "token 9223372036854775808 at index 1 is outside"),
        ([0, 2**70], "token 1180591620717411303424 at index 1 is outside"),
        ([1.0, 2.0], "token 1.0 at index 0 is no whole number"),
        ([1, None], "token None at index 1 is no whole number"),
        ("ab", "one-dimensional"),
        (["a", "b"], "token 'a' at index 0 is no whole number"),
        ([True, False], "token True at index 0 is no whole number"),
        ([[1, 2]], "one-dimensional"),
        ([[1], [1, 2]], "no sequence of whole numbers"),
        (5, "one-dimensional"),
    ],
)
def test_bad_tokens_are_named(tokens: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_row(Row(tokens, [Slot(0, 2)]), LIMITS)


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ([], "no slots"),
        ([Slot(0, 2)] * 3, "3 slots: a row holds at most 2"),
        ([Slot(0, 2), Slot(4, 2)], "slot 1: position 4 is outside 4 tokens"),
        ([Slot(-1, 2)], "slot 0: position -1 is outside"),
        ([Slot(0, 1)], "slot 0: 1 options; the readout gives 2 to 8"),
        ([Slot(0, 9)], "slot 0: 9 options; the readout gives 2 to 8"),
        ([Slot(0.5, 2)], "slot 0: .* no pair of whole numbers"),
        ([(1,)], "slot 0: .* no pair of whole numbers"),
        ([7], "slot 0: 7 is no pair of whole numbers"),
        ([Slot(2**70, 2)], "outside 4 tokens"),
    ],
)
def test_bad_slots_are_named(slots: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_row(Row([1, 2, 3, 4], slots), LIMITS)


@given(
    tokens=st.lists(st.integers(-3, 110) | st.floats() | st.none() | st.booleans(), max_size=14),
    slots=st.lists(st.tuples(st.integers(-2, 14), st.integers(0, 10)), max_size=3),
)
def test_a_row_is_either_good_throughout_or_refused(tokens: Any, slots: Any) -> None:
    """Booleans beside whole numbers count as such: they are, to numpy and to Python."""
    whole = all(isinstance(token, int) for token in tokens)
    good = (
        1 <= len(tokens) <= 12
        and whole
        and not all(isinstance(token, bool) for token in tokens)
        and all(0 <= token < 100 for token in tokens)
        and 1 <= len(slots) <= 2
        and all(0 <= p < len(tokens) and 2 <= o <= 8 for p, o in slots)
    )
    if good:
        assert checked_row(Row(tokens, slots), LIMITS).tokens.tolist() == tokens
    else:
        with pytest.raises(ValueError, match=r"token|slot"):
            checked_row(Row(tokens, slots), LIMITS)
