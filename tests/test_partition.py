"""The dynamic program: the same sizes as the recurrence worked out step by step."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from decider.partition import Steps, cheapest_sizes, cheapest_sizes_of_few


@st.composite
def steps(draw):
    sizes = sorted(draw(st.sets(st.integers(1, 12), min_size=1, max_size=8)))
    costs = sorted(draw(st.sets(st.integers(0, 60), min_size=len(sizes), max_size=len(sizes))))
    return Steps(tuple(sizes), tuple(costs), (1,) * len(sizes))


runs = st.lists(st.tuples(st.integers(1, 150), steps()), max_size=5)


def by_definition(runs):
    """D, and the sizes that lead to it, straight from the recurrence."""
    least, choice = [0], [0]
    for count, step in runs:
        for _ in range(count):
            j = len(least)
            options = [
                (least[max(0, j - size)] + cost, -size)
                for size, cost in zip(step.sizes, step.costs, strict=True)
            ]
            best, size = min(options)
            least.append(best)
            choice.append(-size)
    sizes, left = [], len(least) - 1
    while left > 0:
        sizes.append(choice[left])
        left -= choice[left]
    return sizes


def spelt_out(sizes):
    return [size for size, times in sizes for _ in range(times)]


@given(runs)
@settings(max_examples=300)
def test_long_runs_are_split_as_the_recurrence_says(runs):
    assert spelt_out(cheapest_sizes(runs)) == by_definition(runs)


@given(runs)
def test_rows_one_by_one_are_split_as_the_recurrence_says(runs):
    total = sum(count for count, _ in runs)
    rows = [step.backward(total) for count, step in runs for _ in range(count)]
    assert spelt_out(cheapest_sizes_of_few(rows, 12)) == by_definition(runs)


def test_a_long_run_is_written_down_and_not_computed():
    """A run of ten million rows would take minutes row by row; its sizes repeat."""
    ladder = Steps((1, 2, 4, 8), (5, 6, 8, 12), (1,) * 4)
    sizes = spelt_out(cheapest_sizes([(10_000_003, ladder)]))
    assert sum(sizes) >= 10_000_003
    assert sizes.count(8) == 1_250_000
    assert sorted(sizes)[:2] == [4, 8]


def test_ties_go_to_the_larger_group():
    assert cheapest_sizes([(4, Steps((1, 2, 4), (1, 2, 4), (1, 1, 1)))]) == [(4, 1)]


def test_no_rows_need_no_groups():
    assert cheapest_sizes([]) == []
    assert cheapest_sizes_of_few([], 0) == []
