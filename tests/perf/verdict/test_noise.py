"""The simulated time line is the one that is described."""

import numpy as np
import pytest

from decider.perf.verdict import noise
from decider.perf.verdict.noise import NOISES, Noise, simulate


def still(random, shape):
    return np.zeros(shape)


def runs(machine, *, pairs=6, cells=3, process=still, seed=1):
    made = Noise("test", "test", process, machine)
    return simulate(made, 50, pairs, cells, process_noise=1.0, random=np.random.default_rng(seed))


def slot_number(random, suites, pairs, slots):
    """Each slot's place in time, so that its value tells when it was taken."""
    return np.broadcast_to(1000.0 * np.arange(pairs * slots), (suites, pairs * slots))


def test_cells_are_taken_in_turn_in_the_order_abba_by_the_process_that_started_first():
    made = runs(slot_number)
    slots = noise.START_SLOTS + 4 * 3
    for pair in range(6):
        for cell in range(3):
            start = pair * slots + noise.START_SLOTS + 4 * cell
            base = np.rint(made.base[:, pair, cell] / 1000) - start
            head = np.rint(made.head[:, pair, cell] / 1000) - start
            outer = (base == [0, 3]).all(axis=1)
            assert (base[outer] == [0, 3]).all()
            assert (head[outer] == [1, 2]).all()
            assert (base[~outer] == [1, 2]).all()
            assert (head[~outer] == [0, 3]).all()


def test_the_order_is_swapped_in_the_second_of_two_pairs_and_a_coin_decides_the_first():
    made = runs(slot_number)
    base_first = made.base[:, :, 0, 0] < made.head[:, :, 0, 0]
    assert (base_first[:, 0::2] != base_first[:, 1::2]).all()
    assert 0.3 < base_first[:, 0::2].mean() < 0.7
    assert not (base_first[:, 0] == base_first[:, 2]).all()


def test_an_odd_number_of_pairs_leaves_the_last_one_alone():
    assert runs(slot_number, pairs=5).log_ratios.shape == (50, 5, 3)


def test_what_is_linear_in_time_cancels():
    assert np.abs(runs(noise._drift).log_ratios).max() < 0.02
    assert np.abs(runs(slot_number).log_ratios).max() < 0.02


@pytest.mark.parametrize("kind", NOISES, ids=lambda kind: kind.name)
def test_every_noise_favours_neither_arm(kind):
    made = simulate(kind, 200, 8, 4, process_noise=0.01, random=np.random.default_rng(3)).log_ratios
    assert made.shape == (200, 8, 4)
    suites = made.mean(axis=(1, 2))
    assert abs(suites.mean()) < 4 * suites.std() / np.sqrt(200)


@pytest.mark.parametrize("kind", NOISES[1:4], ids=lambda kind: kind.name)
def test_the_size_of_process_noise_is_its_standard_deviation(kind):
    values = kind.process(np.random.default_rng(2), (400, 40, 2, 10))
    assert values.std() == pytest.approx(1, rel=0.2)


def test_processes_of_two_kinds_are_alike_in_all_cells_or_in_each_for_itself():
    by_name = {kind.name: kind for kind in NOISES}
    shape = (20, 10, 2, 5)
    alike = by_name["bimodal-processes"].process(np.random.default_rng(1), shape)
    each = by_name["bimodal-cells"].process(np.random.default_rng(1), shape)
    assert (alike == alike[..., :1]).all()
    assert not (each == each[..., :1]).all()


def test_a_slow_minute_lasts_as_long_as_a_few_pairs():
    path = noise._slow_minute(np.random.default_rng(1), 300, 40, 100)
    slow = (path > 0).sum(axis=1)
    assert slow.max() == noise.SLOW_PAIRS * 100
    assert np.exp(path.max()) == pytest.approx(1.3)
    assert (np.abs(np.diff(path > 0, axis=1)).sum(axis=1) <= 2).all()
