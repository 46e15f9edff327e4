"""The flat buffer of a forward: its layout, and that nothing old stays in it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from decider.engine.inputs import Inputs, flat_size
from decider.engine.rows import CheckedRow
from decider.grid import Shape


def checked(tokens: list[int], slots: list[tuple[int, int]]) -> CheckedRow:
    positions, options = zip(*slots, strict=True)
    return CheckedRow(np.array(tokens), np.array(positions), np.array(options))


def test_rows_are_padded_on_the_right_and_places_count_in_the_flattened_group() -> None:
    shape = Shape(batch=3, length=4)
    flat = np.full(flat_size(shape, slots=2), -9)
    rows = [checked([7, 8, 9], [(2, 5), (0, 2)]), checked([6], [(0, 3)])]
    Inputs.over(flat, shape, slots=2).fill(rows, unused_options=8)
    assert flat.tolist() == [
        *(7, 8, 9, 0, 6, 0, 0, 0, 0, 0, 0, 0),
        *(2, 0, 4, 4, 8, 8),
        *(5, 2, 3, 8, 8, 8),
    ]


@given(st.data())
def test_a_used_buffer_holds_what_a_fresh_one_would(data: st.DataObject) -> None:
    shape = Shape(data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5)))
    slot = st.tuples(st.just(0), st.integers(2, 6))
    row = st.builds(
        checked,
        st.lists(st.integers(0, 9), min_size=1, max_size=shape.length),
        st.lists(slot, min_size=1, max_size=2),
    )
    groups = data.draw(st.lists(st.lists(row, max_size=shape.batch), min_size=2, max_size=2))
    buffers = [np.full(flat_size(shape, slots=2), garbage) for garbage in (-1, -2)]
    used, fresh = (Inputs.over(buffer, shape, slots=2) for buffer in buffers)
    for group in groups:
        used.fill(group, unused_options=6)
    fresh.fill(groups[-1], unused_options=6)
    assert buffers[0].tolist() == buffers[1].tolist()
