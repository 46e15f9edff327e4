from __future__ import annotations

import numpy as np
import pytest

from decider.engine import Row, Slot
from decider.serve.admission import Admission
from decider.serve.errors import MalformedError, TooLargeError
from tests.serve.fakes import FakeEngine, row

ADMISSION = Admission(FakeEngine(), max_rows=3, max_row_tokens=10, max_request_tokens=20)


def test_rows_at_the_limits_are_admitted_with_their_tokens_in_arrays() -> None:
    admitted = ADMISSION.admit([row(7, 10), row(8, 9), row(9, 1)])
    assert [asked.tokens.dtype for asked in admitted] == [np.int64] * 3
    assert [asked.tokens[0] for asked in admitted] == [7, 8, 9]
    assert admitted[0].slots == (Slot(9, 3),)


@pytest.mark.parametrize(
    ("rows", "name", "limit"),
    [
        ([row(1)] * 4, "DECIDER_MAX_ROWS", 3),
        ([row(1), row(1, 11)], "DECIDER_MAX_ROW_TOKENS", 10),
        ([row(1, 7)] * 3, "DECIDER_MAX_REQUEST_TOKENS", 20),
    ],
)
def test_a_request_over_a_limit_is_told_which(rows: list[Row], name: str, limit: int) -> None:
    with pytest.raises(TooLargeError, match=name) as caught:
        ADMISSION.admit(rows)
    assert (caught.value.limit, caught.value.variable) == (limit, name)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "no rows"),
        ([row(1), row(5_000)], "row 1: token 5000"),
        ([Row([1], [])], "row 0: no slots"),
        ([Row([2**70], [Slot(0, 2)])], f"row 0: token {2**70} at index 0"),
        ([Row([], [])], "row 0: no tokens"),
    ],
)
def test_a_row_the_model_cannot_answer_is_named(rows: list[Row], sentence: str) -> None:
    with pytest.raises(MalformedError, match=sentence):
        ADMISSION.admit(rows)
