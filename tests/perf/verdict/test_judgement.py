"""The verdicts agree with the slow version, and mirror, scale and err as a fair test must."""

import dataclasses
import itertools
import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decider.perf.verdict import Design, Judgement, Verdict, judge, judgement, undecided
from tests.perf.verdict import oracle

CHANGED = {Verdict.REGRESSED, Verdict.IMPROVED}
LOOSE = Design(margin=0.03, alarm_level=0.2, equivalence_level=0.4, looks=(5, 7))
"""Levels at which a handful of pairs can tell something."""


def normal(seed, cells, pairs, *, spread=0.01, changes=()):
    random = np.random.default_rng(seed)
    values = random.normal(0, spread, (pairs, cells))
    values[:, : len(changes)] += changes
    return {f"cell {number}": column.tolist() for number, column in enumerate(values.T)}


STEPS = st.integers(-12, 12).map(lambda step: step / 200)
RATIOS = st.dictionaries(
    st.sampled_from("abc"),
    st.one_of(
        st.lists(STEPS | st.just(math.nan), min_size=0, max_size=8),
        st.lists(st.floats(-0.05, 0.05), min_size=7, max_size=7),
        st.lists(st.floats(0.02, 0.04), min_size=7, max_size=7),
    ),
    min_size=1,
)


@given(
    RATIOS,
    st.sampled_from([(5,), (7,), (4, 6), (5, 7), (3, 4)]),
    st.floats(0.1, 0.6),
    st.floats(0.05, 0.6),
    st.sampled_from([0.01, 0.03, 0.1]),
    st.sampled_from([1, 20]),
)
@settings(max_examples=100)
def test_the_verdicts_are_those_of_all_sign_vectors(
    ratios, looks, alarm_level, equivalence_level, margin, stands_from
):
    design = Design(margin, alarm_level, equivalence_level, looks=(4, 6))
    with patch.object(judgement, "UNCHANGED_STANDS_FROM", stands_from):
        found = judge(ratios, looks, design)
    expected = oracle.judge(ratios, looks, design, stands_from=stands_from)
    assert list(found) == list(ratios)
    for cell, (verdict, decided_at, bounds) in expected.items():
        assert (found[cell].verdict, found[cell].decided_at) == (verdict, decided_at)
        low, high = (None, None) if bounds is None else map(math.expm1, bounds)
        if found[cell].low is None or found[cell].low < -0.99:
            assert low is None or low < -0.98
        else:
            assert found[cell].low == pytest.approx(low, rel=1e-4, abs=1e-7)
            assert found[cell].high == pytest.approx(high, rel=1e-4, abs=1e-7)


@given(RATIOS)
@settings(max_examples=40)
def test_the_interval_excludes_0_exactly_when_the_cell_changed(ratios):
    for one in judge(ratios, (5, 7), LOOSE).values():
        excludes = one.low is not None and one.high is not None and not one.low <= 0 <= one.high
        assert (one.verdict in CHANGED) == excludes


@pytest.mark.parametrize("tiny", [1e-150, 2e-187, 1e-300])
def test_the_spread_of_tiny_log_ratios_is_not_lost(tiny):
    """Their squares are 0 in floating point, which made an interval of no width."""
    one = judge({"a": [0.0] * 6 + [tiny]}, (5, 7), LOOSE)["a"]
    assert one.verdict not in CHANGED
    assert one.low < 0 < one.high


MIRRORED = {Verdict.REGRESSED: Verdict.IMPROVED, Verdict.IMPROVED: Verdict.REGRESSED}


@given(RATIOS)
@settings(max_examples=40)
def test_swapping_base_and_head_mirrors_everything(ratios):
    found = judge(ratios, (5, 7), LOOSE)
    swapped = judge(
        {cell: [-one for one in values] for cell, values in ratios.items()}, (5, 7), LOOSE
    )
    for one, other in zip(found.values(), swapped.values(), strict=True):
        assert other.verdict == MIRRORED.get(one.verdict, one.verdict)
        assert (other.pairs, other.decided_at) == (one.pairs, one.decided_at)
        assert other.pairs_needed == one.pairs_needed
        assert other.smallest_visible == pytest.approx(one.smallest_visible)
        for ours, theirs in ((one.low, other.high), (one.change, other.change)):
            if ours is not None and theirs is not None:
                assert (1 + ours) * (1 + theirs) == pytest.approx(1)


@given(RATIOS, st.sampled_from([0.25, 0.5, 2, 8]))
@settings(max_examples=40)
def test_only_ratios_to_the_margin_matter(ratios, factor):
    scaled = {cell: [one * factor for one in values] for cell, values in ratios.items()}
    design = dataclasses.replace(LOOSE, margin=math.expm1(LOOSE.log_margin * factor))
    found, other = judge(ratios, (5, 7), LOOSE), judge(scaled, (5, 7), design)
    for cell, one in found.items():
        assert (other[cell].verdict, other[cell].pairs_needed) == (one.verdict, one.pairs_needed)


@given(RATIOS, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_the_order_of_cells_does_not_matter(ratios, random):
    cells = random.sample(list(ratios), len(ratios))
    shuffled = judge({cell: ratios[cell] for cell in cells}, (5, 7), LOOSE)
    assert list(shuffled) == cells
    for cell, one in judge(ratios, (5, 7), LOOSE).items():
        assert shuffled[cell].verdict == one.verdict
        assert shuffled[cell].low == pytest.approx(one.low)


@given(RATIOS, st.permutations(range(7)))
@settings(max_examples=40)
def test_the_order_of_pairs_does_not_matter_within_a_look(ratios, order):
    full = {cell: [*values, *[math.nan] * 7][:7] for cell, values in ratios.items()}
    moved = {cell: [values[place] for place in order] for cell, values in full.items()}
    found = judge(moved, (7,), LOOSE)
    for cell, one in judge(full, (7,), LOOSE).items():
        assert found[cell].verdict == one.verdict
        assert found[cell].low == pytest.approx(one.low)


@given(st.integers(0, 10_000), st.integers(1, 8), st.sampled_from([7, 12, 20]))
@settings(max_examples=40)
def test_another_cell_never_narrows_an_interval(seed, cells, pairs):
    ratios = normal(seed, cells + 1, pairs, changes=(0.05,))
    fewer = dict(list(ratios.items())[:-1])
    more = judge(ratios, (pairs,), LOOSE, most_flips=2**8)
    for cell, one in judge(fewer, (pairs,), LOOSE, most_flips=2**8).items():
        if one.low is None:
            assert more[cell].low is None
        else:
            assert more[cell].low is None or more[cell].low <= one.low + 1e-12


def shares_over_all_flips(values, looks, design, verdicts):
    """Share of all swaps of arms of one set of data under which a cell has one of the verdicts.

    Half of the swaps: the others are their mirror images, and their verdicts as well.
    """
    hits = 0
    for signs in itertools.product((1, -1), repeat=len(values) - 1):
        cells = dict(enumerate((np.array([1, *signs])[:, None] * values).T.tolist()))
        hits += any(one.verdict in verdicts for one in judge(cells, looks, design).values())
    return hits / 2 ** (len(values) - 1)


HEAVY = np.random.default_rng(5).standard_t(2, (8, 3)) + np.random.default_rng(6).normal(
    size=(8, 1)
)


@pytest.mark.parametrize("looks", [(8,), (5, 8), (5, 6, 7, 8)])
def test_over_all_swaps_of_arms_the_share_of_alarms_is_within_the_level(looks):
    """No chance in it; and the level is not kept by never alarming."""
    design = Design(margin=0.02, alarm_level=0.3, looks=looks)
    alarms = shares_over_all_flips(HEAVY, looks, design, CHANGED)
    assert 0.08 < alarms <= 0.3


@pytest.mark.parametrize("side", [(1, 1, 1), (-1, -1, -1), (1, -1, 1)])
def test_cells_that_moved_by_the_margin_are_called_unchanged_within_the_level(side):
    """Over all swaps about the margin, in one direction or in several."""
    design = Design(margin=0.02, alarm_level=0.001, equivalence_level=0.3, looks=(8,))
    hits = 0
    for signs in itertools.product((1, -1), repeat=8):
        noise = 0.01 * np.array(signs)[:, None] * HEAVY
        cells = dict(enumerate((noise + design.log_margin * np.array(side)).T.tolist()))
        found = judge(cells, (8,), design).values()
        hits += any(one.verdict is Verdict.UNCHANGED for one in found)
    assert 0.02 < hits / 2**8 <= 0.3


def test_a_large_change_is_called_at_the_first_look_and_no_longer_sampled():
    ratios = normal(1, 20, 40, spread=0.003, changes=(0.05, -0.05))
    ratios["cell 0"][10:] = [math.nan] * 30  # what a runner leaves out
    found = judge(ratios, (10, 14, 20))
    assert found["cell 0"].verdict is Verdict.REGRESSED
    assert found["cell 1"].verdict is Verdict.IMPROVED
    assert (found["cell 0"].pairs, found["cell 0"].decided_at) == (10, 10)
    assert found["cell 0"].low < math.expm1(0.05) < found["cell 0"].high
    assert found["cell 0"].pairs_needed is None
    assert found["cell 2"].verdict is Verdict.UNCHANGED
    assert found["cell 2"].decided_at == 20
    assert undecided(found) == []


def test_a_verdict_stays_whatever_comes_later():
    ratios = normal(1, 5, 40, spread=0.003, changes=(0.05,))
    first = judge(ratios, (10,))
    ratios["cell 0"][10:] = [-1.0] * 30
    assert judge(ratios, (10, 14, 20, 28))["cell 0"] == first["cell 0"]


def test_pairs_after_the_last_look_are_not_looked_at():
    ratios = normal(1, 5, 40)
    shorter = {cell: values[:14] for cell, values in ratios.items()}
    assert judge(ratios, (10, 14)) == judge(shorter, (10, 14))


def test_with_few_pairs_unchanged_holds_but_is_sampled_on():
    """A change of half the margin must have its chance to be seen first."""
    quiet = normal(3, 5, 40, spread=0.001)
    early = judge(quiet, (10,))
    assert {one.verdict for one in early.values()} == {Verdict.UNCHANGED}
    assert undecided(early) == list(quiet)
    assert undecided(judge(quiet, (10, 14, 20))) == []
    short = Design(looks=(8, 10))
    assert undecided(judge(quiet, (8, 10), short)) == []


def test_a_run_whose_time_is_over_looks_once_more():
    quiet = normal(3, 5, 17, spread=0.001)
    assert {one.verdict for one in judge(quiet, (10, 14, 17)).values()} == {Verdict.UNCHANGED}


def test_the_criterion_is_not_eased_by_the_cells_that_were_decided():
    """Ninety quiet cells are decided at 20 pairs; ten noisy ones go on as ten of a hundred."""
    noisy = normal(5, 10, 40, spread=0.05)
    quiet = {f"quiet {number}": one for number, one in enumerate(normal(6, 90, 40).values())}
    alone = judge(noisy, (10, 14, 20, 28, 40))
    among = judge({**noisy, **quiet}, (10, 14, 20, 28, 40))
    assert all(among[cell].decided_at == 20 for cell in list(quiet)[:5])
    width = [found["cell 3"].high - found["cell 3"].low for found in (alone, among)]
    assert width[1] > 1.1 * width[0]


def test_pairs_needed_would_decide():
    """The same pairs over and over keep mean and spread."""
    ratios = normal(8, 3, 14, spread=0.02)
    found = judge(ratios, (10, 14))["cell 1"]
    assert found.verdict is Verdict.INCONCLUSIVE
    enough = math.ceil(found.pairs_needed / 14)
    assert enough > 3
    repeated = {cell: values * enough for cell, values in ratios.items()}
    assert judge(repeated, (10, 14, 28))["cell 1"].verdict is Verdict.INCONCLUSIVE
    assert judge(repeated, (10, 14, 14 * enough))["cell 1"].verdict is not Verdict.INCONCLUSIVE


def test_a_cell_that_lacks_pairs_needs_as_many_more():
    ratios = normal(8, 1, 14, spread=0.02)
    lacking = {"cell 0": [math.nan] * 3 + ratios["cell 0"]}
    complete, late = judge(ratios, (14,)), judge(lacking, (17,))
    assert late["cell 0"].pairs == 14
    assert late["cell 0"].pairs_needed == complete["cell 0"].pairs_needed + 3


NOTHING = Judgement(Verdict.INCONCLUSIVE, 0, None, None, None, None, None, None)


def test_nothing_measured_is_inconclusive():
    assert judge({}, (10,)) == {}
    assert judge({}, ()) == {}
    assert judge({"a": [0.1] * 10}, ()) == {"a": NOTHING}
    assert judge({"a": [], "b": [math.nan] * 30}, (10, 14)) == {"a": NOTHING, "b": NOTHING}


def test_a_cell_without_values_does_not_disturb_the_others():
    ratios = normal(1, 4, 20)
    beside = judge({"lost": [math.nan] * 20, **ratios}, (10, 20))
    assert beside.pop("lost") == NOTHING
    assert beside == judge(ratios, (10, 20))


def test_one_pair_shows_a_change_and_proves_nothing():
    found = judge({"a": [0.7]}, (1,))["a"]
    assert found == Judgement(
        Verdict.INCONCLUSIVE, 1, None, pytest.approx(math.expm1(0.7)), None, None, None, None
    )


def test_cells_that_never_vary_are_judged_by_their_value():
    cells = {"same": [0.0] * 20, "slower": [0.01] * 20, "faster": [-0.3] * 20}
    found = judge(cells, (20,))
    assert found["same"] == Judgement(Verdict.UNCHANGED, 20, 20, 0.0, 0.0, 0.0, 0.0, None)
    assert found["slower"].verdict is Verdict.REGRESSED
    assert (
        found["slower"].low
        == pytest.approx(found["slower"].high)
        == pytest.approx(math.expm1(0.01))
    )
    assert found["faster"].verdict is Verdict.IMPROVED


@pytest.mark.parametrize("value", [math.inf, -math.inf, 101.0])
def test_a_value_that_is_no_measurement_is_refused_with_its_place(value):
    with pytest.raises(ValueError, match=r"forward/8x256, pair 3: a log-ratio of .*NaN"):
        judge({"plan": [0.0] * 10, "forward/8x256": [0.0, 0.1, value]}, (10,))


def test_more_looks_than_planned_are_refused():
    with pytest.raises(ValueError, match="2 looks taken and 1 planned"):
        judge({"a": [0.0] * 10}, (5, 10), Design(looks=(10,)))


def test_the_same_numbers_have_the_same_verdict_as_lists_tuples_and_arrays():
    ratios = normal(1, 3, 20)
    as_tuples = {cell: tuple(values) for cell, values in ratios.items()}
    as_arrays = {cell: np.array(values) for cell, values in ratios.items()}
    assert judge(ratios, (20,)) == judge(as_tuples, (20,)) == judge(as_arrays, [np.int64(20)])
