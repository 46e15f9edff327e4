"""The sign vectors are a group; under it the largest statistic errs exactly as often as said."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decider.perf.verdict.flips import ROUNDING, critical_value, sign_vectors, unit_columns
from tests.perf.verdict import oracle


def drawn(seed, pairs, cells, *, heavy=False):
    """Cells that depend on each other; symmetric about 0."""
    random = np.random.default_rng(seed)
    shared = random.normal(size=(pairs, 1))
    own = random.standard_t(2, (pairs, cells)) if heavy else random.normal(size=(pairs, cells))
    return own + shared


@pytest.mark.parametrize(("pairs", "most"), [(1, 8), (4, 8), (9, 16), (40, 2**10), (40, 2**13)])
def test_the_vectors_and_their_mirror_images_are_a_group(pairs, most):
    signs = sign_vectors(pairs, most)
    assert signs.shape == (min(most, 2 ** (pairs - 1)), pairs)
    assert (signs[0] == 1).all()
    assert (signs[:, 0] == 1).all()
    rows = {tuple(row) for row in signs.tolist()}
    assert len(rows) == len(signs)
    random = np.random.default_rng(1)
    for one, other in random.integers(0, len(signs), (200, 2)):
        assert tuple((signs[one] * signs[other]).tolist()) in rows


def test_with_few_pairs_all_vectors_are_there():
    rows = {tuple(row) for row in sign_vectors(6, 2**13).tolist()}
    assert rows == {(1.0, *rest) for rest in product((1.0, -1.0), repeat=5)}


def test_no_two_pairs_always_flip_together():
    columns = {tuple(column) for column in sign_vectors(40, 2**10).T.tolist()}
    assert len(columns) == 40


def test_the_vectors_are_the_same_ones_everywhere():
    """A verdict is to be reproducible on another machine and with another numpy."""
    signs = sign_vectors(20, 2**13)
    masks = (signs[[2**bit for bit in range(13)]] < 0).T @ 2 ** np.arange(13)
    assert masks.tolist() == [0, *(2**bit for bit in range(13)), 832, 7191, 1576, 2027, 1507, 3325]


@pytest.mark.parametrize("most", [0, 1, 3, 1000])
def test_a_number_of_vectors_that_is_no_power_of_two_is_refused(most):
    with pytest.raises(ValueError, match=f"power of two above 1, not {most}"):
        sign_vectors(5, most)


def test_more_pairs_than_the_vectors_can_tell_apart_are_refused():
    with pytest.raises(ValueError, match="33 pairs are too many for 32"):
        sign_vectors(33, 32)


@given(
    st.lists(st.lists(st.integers(-9, 9), min_size=5, max_size=5), min_size=1, max_size=3),
    st.floats(0.02, 0.9),
    st.booleans(),
)
@settings(max_examples=60)
def test_the_critical_value_is_that_of_all_sign_vectors(columns, level, two_sided):
    units = unit_columns(np.array(columns, dtype=float).T)
    found = critical_value(units, level, two_sided=two_sided)
    assert found == pytest.approx(oracle.critical(columns, level, two_sided=two_sided), rel=2e-9)


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("most", [2**7, 2**5])
@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize("level", [0.04, 0.1, 0.3])
def test_over_all_flips_of_the_data_the_share_of_rejections_is_the_level(
    heavy, most, two_sided, level
):
    """No chance in it: all swaps of arms of one set of data, by all and by some of the vectors."""
    units = unit_columns(drawn(3, 8, 4, heavy=heavy))
    rejected = 0
    for signs in product((1.0, -1.0), repeat=8):
        flipped = np.array(signs)[:, None] * units
        sums = flipped.sum(axis=0)
        largest = np.abs(sums).max() if two_sided else sums.max()
        rejected += largest > critical_value(flipped, level, two_sided=two_sided, most=most)
    vectors = most if two_sided else 2 * most
    assert rejected / 2**8 == math.floor(level * vectors) / vectors


def test_without_the_maximum_over_cells_the_share_is_above_the_level():
    units = unit_columns(drawn(3, 8, 4))
    rejected = 0
    for signs in product((1.0, -1.0), repeat=8):
        flipped = np.array(signs)[:, None] * units
        rejected += any(
            abs(flipped[:, cell].sum()) > critical_value(flipped[:, [cell]], 0.1, two_sided=True)
            for cell in range(4)
        )
    assert rejected / 2**8 > 0.2


@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0.01, 0.5), st.booleans())
@settings(max_examples=40)
def test_another_column_never_lowers_the_critical_value(seed, columns, level, two_sided):
    units = unit_columns(drawn(seed, 9, columns + 1))
    fewer = critical_value(units[:, :-1], level, two_sided=two_sided)
    # but for the rounding of a product of another width
    assert critical_value(units, level, two_sided=two_sided) >= fewer - abs(fewer) * ROUNDING


def test_with_too_few_pairs_nothing_is_extreme_enough():
    units = unit_columns(drawn(1, 7, 1))
    assert critical_value(units, 0.01, two_sided=True) == math.inf  # 1 of 64 is above 1%
    assert critical_value(units, 0.01, two_sided=False) < math.inf  # 1 of 128 is not
    assert critical_value(np.zeros((0, 3)), 0.5, two_sided=True) == math.inf
    assert critical_value(np.zeros((3, 0)), 0.5, two_sided=True) == math.inf


@given(
    st.lists(
        st.floats(-100, 100).map(lambda value: round(value, 9)) | st.just(math.nan),
        min_size=1,
        max_size=12,
    )
)
def test_the_sum_of_a_unit_column_is_the_statistic(values):
    unit = unit_columns(np.array(values)[:, None])
    assert unit.sum() == pytest.approx(oracle.statistic(values), abs=1e-9)


def test_values_too_small_to_be_squared_count_as_well():
    assert unit_columns(np.full((4, 1), 1e-200)).sum() == pytest.approx(2.0)
