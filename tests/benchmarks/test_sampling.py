"""Warm-up, blocks, the stopping rule and dropped blocks, on a clock that only moves when told."""

from __future__ import annotations

import random
from collections import Counter
from statistics import median
from typing import Any

import pytest

from benchmarks.intervals import MINIMUM_VALUES
from benchmarks.sampling import Block, CellSamples, Sampler, Timing, sample_block, warm_up
from tests.benchmarks.fakes import FakeClock, FakeProbe, noisy

TIMING = Timing(
    minimum_seconds=0.01,
    block_seconds=0.03,
    half_width=0.05,
    time_cap_seconds=2.0,
    warm_up_seconds=0.5,
)
CELLS = ["a", "b", "c", "d"]


def test_warm_up_goes_on_until_three_samples_agree() -> None:
    clock = FakeClock()
    seconds = [0.090, 0.050, 0.030, 0.021, 0.020, 0.020, 0.020]
    probe = FakeProbe(clock, lambda cell, count: seconds[count], ["a"])
    assert warm_up(probe, "a", TIMING, clock) == 1
    assert len(probe.log) == 6  # 0.021, 0.020, 0.020


def test_warm_up_of_an_unstable_cell_ends_at_its_cap() -> None:
    clock = FakeClock()
    probe = FakeProbe(clock, lambda cell, count: 0.1 * (1 + count % 2), ["a"])
    warm_up(probe, "a", TIMING, clock)
    assert len(probe.log) == 4  # 0.1 + 0.2 + 0.1 + 0.2 is the first sum of at least 0.5


def test_warm_up_of_a_slow_cell_is_one_run() -> None:
    clock = FakeClock()
    probe = FakeProbe(clock, lambda cell, count: 3.0, ["a"])
    assert warm_up(probe, "a", TIMING, clock) == 1
    assert len(probe.log) == 1


@pytest.mark.parametrize(("run", "repeats"), [(0.0004, 25), (0.003, 4), (0.01, 1), (0.4, 1)])
def test_a_sample_repeats_the_run_to_the_minimum_time(run: float, repeats: int) -> None:
    clock = FakeClock()
    probe = FakeProbe(clock, lambda cell, count: run, ["a"])
    assert warm_up(probe, "a", TIMING, clock) == repeats


def test_a_run_too_fast_for_the_clock_is_no_division_by_zero() -> None:
    probe = FakeProbe(FakeClock(), lambda cell, count: 0.0, ["a"])
    assert warm_up(probe, "a", TIMING, FakeClock()) == 10_000_000


def test_a_block_takes_samples_until_its_time_is_up_and_one_at_least() -> None:
    clock = FakeClock()
    probe = FakeProbe(clock, lambda cell, count: {"fast": 0.0125, "slow": 9.0}[cell], [])
    assert sample_block(probe, "fast", 1, TIMING, clock) == [0.0125] * 3
    assert sample_block(probe, "slow", 1, TIMING, clock) == [9.0]


def sampled(seconds: Any, *, timing: Timing = TIMING, **options: Any) -> tuple[Sampler, FakeProbe]:
    clock = FakeClock()
    probe = FakeProbe(clock, seconds, CELLS)
    sampler = Sampler(probe, timing, clock=clock, **options)
    sampler.run()
    return sampler, probe


def test_a_quiet_cell_stops_after_the_fewest_blocks_that_bound_its_median() -> None:
    sampler, _ = sampled(lambda cell, count: 0.02)
    for samples in sampler.samples.values():
        assert samples.stop == "interval"
        assert len(samples.blocks) == MINIMUM_VALUES
        assert samples.estimate().half_width == 0.0


def test_a_noisy_cell_stops_at_the_first_block_that_makes_its_interval_narrow_enough() -> None:
    sampler, _ = sampled(noisy(0.02, 0.1))
    for samples in sampler.samples.values():
        assert samples.stop == "interval"
        assert samples.estimate().half_width <= TIMING.half_width
        before = CellSamples(samples.cell, samples.blocks[:-1])
        few = len(before.kept) < MINIMUM_VALUES
        assert few or before.estimate().half_width > TIMING.half_width


def test_a_cell_that_never_gets_there_stops_at_the_time_cap_and_says_so() -> None:
    sampler, _ = sampled(noisy(0.02, 1.0))
    for samples in sampler.samples.values():
        assert samples.stop == "time"
        last = max(samples.blocks[-1].seconds) * len(samples.blocks[-1].seconds)
        assert TIMING.time_cap_seconds <= samples.spent < TIMING.time_cap_seconds + last + 0.03


def test_a_slow_cell_gets_its_fewest_blocks_though_they_take_longer_than_the_cap() -> None:
    sampler, _ = sampled(lambda cell, count: 1.0 + (count % 2))
    assert {len(samples.blocks) for samples in sampler.samples.values()} == {MINIMUM_VALUES}
    assert {samples.stop for samples in sampler.samples.values()} == {"time"}


def test_blocks_are_interleaved_and_every_round_has_its_own_order() -> None:
    _, probe = sampled(lambda cell, count: 0.5)
    visits = probe.log[len(CELLS) :]  # after the warm-up
    rounds = [tuple(visits[i : i + len(CELLS)]) for i in range(0, len(visits), len(CELLS))]
    assert all(sorted(order) == CELLS for order in rounds)
    assert len(set(rounds)) > 1


def test_the_seed_decides_the_order() -> None:
    first, again, other = (sampled(lambda cell, count: 0.5, seed=seed)[1].log for seed in (1, 1, 2))
    assert first == again != other


def test_a_cell_that_has_stopped_is_not_visited_again() -> None:
    quiet = "a"
    jitter = noisy(0.02, 1.0)
    _, probe = sampled(lambda cell, count: 0.02 if cell == quiet else jitter(cell, count))
    visits = Counter(probe.log)
    assert visits[quiet] < min(visits[cell] for cell in CELLS if cell != quiet)
    last = len(probe.log) - probe.log[::-1].index(quiet)
    assert quiet not in probe.log[last:]


def test_an_estimate_counts_blocks_and_not_samples() -> None:
    blocks = [Block([1.0 + i / 10] * 50) for i in range(3)] + [Block([9.0])] * 3
    found = CellSamples("a", blocks).estimate()
    assert found.interval == (1.0, 9.0)  # 153 independent samples would bound it far closer
    assert found.median == median([1.0, 1.1, 1.2, 9.0, 9.0, 9.0])


def device(clock: float | None) -> dict[str, Any]:
    return {"sm_mhz": clock}


def test_blocks_below_three_quarters_of_the_usual_clock_are_dropped_and_counted() -> None:
    clocks = [2_000, 2_000, 1_400, 1_500, 2_000, 2_000, 1_499]
    samples = CellSamples("a", [Block([float(c)], device(c)) for c in clocks])
    assert [block.device["sm_mhz"] for block in samples.dropped if block.device] == [1_400, 1_499]
    assert len(samples.kept) == 5
    assert samples.block_medians() == [2_000, 2_000, 1_500, 2_000, 2_000]


def test_the_usual_clock_is_the_cells_own() -> None:
    held = CellSamples("heavy", [Block([1.0], device(1_200))] * 8)
    assert held.dropped == []


def test_blocks_of_an_unknown_clock_are_kept() -> None:
    blocks = [Block([1.0]), Block([1.0], device(None)), Block([1.0], device(900))]
    assert CellSamples("a", blocks).kept == blocks


def test_a_dropped_block_does_not_count_towards_the_fewest() -> None:
    readings = iter([2_000, 2_000, 900, 2_000, 900, 2_000, 2_000, 2_000, 2_000, 2_000])
    clock = FakeClock()
    probe = FakeProbe(clock, lambda cell, count: 0.5, ["a"])
    sampler = Sampler(probe, TIMING, clock=clock, read_device=lambda: device(next(readings)))
    sampler.run()
    samples = sampler.samples["a"]
    assert (len(samples.kept), len(samples.dropped)) == (MINIMUM_VALUES, 2)


def test_known_cells_are_gone_on_with_and_finished_ones_left_alone() -> None:
    clock = FakeClock()
    probe = FakeProbe(clock, lambda cell, count: 0.5, CELLS)
    known = [
        CellSamples("a", [Block([0.5])] * 6, repeats=1, spent=3.0, stop="interval"),
        CellSamples("b", [Block([0.5])] * 5, repeats=1, spent=2.5),
    ]
    sampler = Sampler(probe, TIMING, clock=clock, known=known)
    sampler.run()
    visits = Counter(probe.log)
    assert visits == {"b": 2, "c": 7, "d": 7}  # one of each warms up
    assert {samples.stop for samples in sampler.samples.values()} == {"interval"}


def test_a_budget_that_ends_leaves_cells_with_too_few_blocks_unstopped() -> None:
    clock = FakeClock()
    probe = FakeProbe(clock, lambda cell, count: 1.0, CELLS)
    sampler = Sampler(probe, TIMING, clock=clock)
    sampler.run(budget_seconds=13.5)  # 4 to warm up, then 10 blocks begin
    assert sum(len(samples.blocks) for samples in sampler.samples.values()) == 10
    assert len(sampler.waiting) == len(CELLS)


def test_a_budget_that_ends_stops_cells_with_enough_blocks() -> None:
    clock = FakeClock()
    probe = FakeProbe(clock, noisy(0.02, 0.5), CELLS)
    sampler = Sampler(probe, TIMING, clock=clock)
    sampler.run(budget_seconds=3.0)
    assert {samples.stop for samples in sampler.samples.values()} == {"time"}
    assert max(samples.spent for samples in sampler.samples.values()) < TIMING.time_cap_seconds


def test_an_interrupt_keeps_every_finished_block() -> None:
    clock = FakeClock()

    def seconds(cell: str, count: int) -> float:
        if clock.now > 1_010:
            raise KeyboardInterrupt
        return 0.5

    probe = FakeProbe(clock, seconds, CELLS)
    sampler = Sampler(probe, TIMING, clock=clock)
    with pytest.raises(KeyboardInterrupt):
        sampler.run()
    blocks = [block for samples in sampler.samples.values() for block in samples.blocks]
    assert len(blocks) == 17  # 8.5 of the 10 seconds; 2 warmed up the four cells
    assert all(len(block.seconds) == 1 for block in blocks)


def test_seconds_left_falls_to_nothing() -> None:
    clock = FakeClock()
    probe = FakeProbe(clock, noisy(0.02, 0.2), CELLS)
    sampler = Sampler(probe, TIMING, clock=clock)
    guesses: list[float] = []
    assert sampler.seconds_left() == len(CELLS) * TIMING.time_cap_seconds
    sampler.run(progress=lambda sampler: guesses.append(sampler.seconds_left()))
    assert min(guesses[:-1]) > 0
    assert guesses[-1] == 0


def test_the_spent_time_is_that_of_the_blocks() -> None:
    sampler, probe = sampled(lambda cell, count: 0.5)
    assert sampler.spent == pytest.approx(0.5 * (len(probe.log) - len(CELLS)))
    assert sampler.warm_up_spent == pytest.approx(0.5 * len(CELLS))


def test_the_interval_of_a_fixed_number_of_blocks_covers_the_median() -> None:
    generator = random.Random(3)
    covered = 0
    for _ in range(400):
        blocks = [Block([generator.lognormvariate(0.0, 0.3)]) for _ in range(12)]
        low, high = CellSamples("a", blocks).estimate().interval
        covered += low <= 1.0 <= high
    assert covered >= 0.92 * 400


@pytest.mark.parametrize("name", ["minimum_seconds", "half_width", "time_cap_seconds"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_timing_refuses_what_no_clock_can_keep(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be finite and above 0"):
        Timing(**{name: value})
