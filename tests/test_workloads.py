"""Row lengths and arrivals: named quantiles, one stream per seed, refusals that name the value."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.workloads import MIXES, Mix, arrival_times, row_lengths

NAMED_QUANTILES = {
    "short": {0.5: 40, 0.9: 320, 0.99: 1_470},
    "decision": {0.5: 224, 0.95: 4_399, 1.0: 8_822},
    "chat": {0.5: 1_020, 0.9: 2_734, 0.99: 4_142, 1.0: 14_050},
    "code": {0.5: 1_469, 0.9: 5_188, 0.99: 7_436, 1.0: 7_437},
    "uniform": {0.0: 1, 1.0: 8_192},
}
PINNED_DECISION = [437, 87, 21, 15, 1208, 2696, 377, 688]
PINNED_POISSON = [0.09401745247426456, 0.8594803161898457, 2.982078264770009]

mixes = st.sampled_from(sorted(MIXES))
sizes = st.integers(0, 300)
seeds = st.integers(0, 2**63)


def quantile_in_plain_python(mix: Mix, probability: float) -> int:
    """The quantile function read off its definition, without numpy."""
    for (low, short), (high, long) in zip(mix.anchors, mix.anchors[1:], strict=False):
        if low <= probability <= high:
            share = (probability - low) / (high - low)
            if mix.linear:
                return round(short + share * (long - short))
            return round(math.exp(math.log(short) + share * (math.log(long) - math.log(short))))
    raise AssertionError(probability)


@pytest.mark.parametrize(
    ("mix", "probability", "tokens"),
    [(mix, p, tokens) for mix, named in NAMED_QUANTILES.items() for p, tokens in named.items()],
)
def test_a_mix_has_its_named_quantiles(mix: str, probability: float, tokens: int) -> None:
    assert MIXES[mix].quantile(probability) == tokens


@pytest.mark.parametrize("mix", sorted(NAMED_QUANTILES))
def test_many_rows_show_the_quantiles_of_their_mix(mix: str) -> None:
    lengths = row_lengths(mix, 100_000, seed=5)
    for probability, tokens in NAMED_QUANTILES[mix].items():
        if 0 < probability < 1:
            # The sample's quantile is the mix's at a probability that binomial noise has moved.
            noise = 5 * math.sqrt(probability * (1 - probability) / len(lengths))
            low, high = MIXES[mix].quantile([probability - noise, min(1, probability + noise)])
            assert low <= np.quantile(lengths, probability, method="inverted_cdf") <= high, tokens


@given(mixes, st.floats(0, 1))
def test_the_quantile_function_is_the_one_defined_by_its_anchors(mix: str, p: float) -> None:
    # One token apart where numpy and math round a half differently.
    assert abs(MIXES[mix].quantile(p) - quantile_in_plain_python(MIXES[mix], p)) <= 1


@pytest.mark.parametrize("probability", [-0.1, 1.1, math.nan])
def test_a_probability_outside_0_to_1_is_refused(probability: float) -> None:
    with pytest.raises(ValueError, match=f"from 0 to 1, not .*{probability}"):
        MIXES["short"].quantile([0.5, probability])


@given(mixes, sizes, seeds)
def test_a_queue_is_its_mix_size_and_seed(mix: str, size: int, seed: int) -> None:
    lengths = row_lengths(mix, size, seed)
    assert lengths.dtype == np.int64
    assert lengths.shape == (size,)
    assert (lengths >= 1).all()
    assert lengths.tolist() == row_lengths(MIXES[mix], size, seed).tolist()


def test_another_seed_gives_other_rows() -> None:
    assert row_lengths("decision", 50, 1).tolist() != row_lengths("decision", 50, 2).tolist()


def test_the_stream_is_pinned() -> None:
    assert row_lengths("decision", 8, seed=0).tolist() == PINNED_DECISION


@given(mixes.filter(lambda mix: mix != "bimodal"), sizes, sizes, seeds)
def test_a_larger_queue_begins_with_the_smaller_one(mix: str, a: int, b: int, seed: int) -> None:
    small, large = sorted((a, b))
    begun = row_lengths(mix, large, seed)[:small]
    assert begun.tolist() == row_lengths(mix, small, seed).tolist()


@given(st.integers(1, 300), seeds)
def test_bimodal_has_one_long_row_among_rows_of_twelve(size: int, seed: int) -> None:
    assert sorted(row_lengths("bimodal", size, seed)) == [12] * (size - 1) + [8_000]


def test_the_long_row_of_bimodal_stands_anywhere() -> None:
    places = {int(np.argmax(row_lengths("bimodal", 4, seed))) for seed in range(100)}
    assert places == {0, 1, 2, 3}


@given(mixes, sizes, seeds, st.integers(1, 10_000))
def test_longest_cuts_rows_to_it_and_changes_no_other(
    mix: str, size: int, seed: int, longest: int
) -> None:
    whole = row_lengths(mix, size, seed).tolist()
    cut = row_lengths(mix, size, seed, longest=longest).tolist()
    assert cut == [min(length, longest) for length in whole]


def test_every_mix_has_a_description_of_one_line() -> None:
    assert list(MIXES) == ["short", "decision", "chat", "code", "uniform", "equal", "bimodal"]
    for name, mix in MIXES.items():
        assert mix.name == name
        assert mix.description
        assert "\n" not in mix.description


def test_an_unknown_mix_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match=r"no mix is named 'shrt'; there are short, decision, "):
        row_lengths("shrt", 3)


@pytest.mark.parametrize("size", [-1, 2.0, True, "3", None])
def test_a_bad_size_is_refused_by_value(size: object) -> None:
    wanted = f"size must be a whole number of at least 0, not {size!r}"
    with pytest.raises(ValueError, match=re.escape(wanted)):
        row_lengths("equal", size)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=re.escape(wanted)):
        arrival_times(1.0, size)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 0.5, False])
def test_a_bad_seed_is_refused_by_value(seed: object) -> None:
    with pytest.raises(ValueError, match=f"seed must be .* not {seed!r}"):
        row_lengths("equal", 1, seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("longest", [0, -5, 1.5])
def test_a_bad_longest_is_refused_by_value(longest: object) -> None:
    with pytest.raises(ValueError, match=f"longest must be .* at least 1, not {longest!r}"):
        row_lengths("equal", 1, longest=longest)  # type: ignore[arg-type]


def test_a_mix_of_ones_own_is_taken() -> None:
    mine = Mix("mine", "two lengths", ((0.0, 5), (1.0, 5)), long_row=9)
    assert sorted(row_lengths(mine, 3)) == [5, 5, 9]


@pytest.mark.parametrize(
    ("anchors", "fault"),
    [
        ((), "from probability 0 to 1"),
        (((0.0, 5),), "from probability 0 to 1"),
        (((0.1, 5), (1.0, 6)), "from probability 0 to 1"),
        (((0.0, 5), (0.9, 6)), "from probability 0 to 1"),
        (((0.0, 0.5), (1.0, 6)), "length 0.5 is below 1"),
        (((0.0, 5), (0.5, 4), (1.0, 6)), r"anchor \(0.5, 4\) does not rise above \(0.0, 5\)"),
        (((0.0, 5), (0.5, 6), (0.5, 7), (1.0, 9)), "does not rise"),
        (((0.0, 5), (1.0, math.inf)), "does not rise"),
        (((0.0, 5), (1.0, math.nan)), "does not rise"),
    ],
)
def test_a_mix_with_impossible_anchors_is_refused(
    anchors: tuple[tuple[float, float], ...], fault: str
) -> None:
    with pytest.raises(ValueError, match=f"mix 'bad': .*{fault}"):
        Mix("bad", "", anchors)


def test_a_mix_with_an_impossible_long_row_is_refused() -> None:
    with pytest.raises(ValueError, match="mix 'bad': long_row must be"):
        Mix("bad", "", ((0.0, 1), (1.0, 1)), long_row=0)


@pytest.mark.parametrize("variation", [0.5, 1.0, 4.0])
def test_gaps_have_the_rate_and_variation_asked_for(variation: float) -> None:
    size, rate = 200_000, 20.0
    gaps = np.diff(arrival_times(rate, size, seed=3, variation=variation), prepend=0.0)
    # The mean of n gaps is off by variation / sqrt(n); five of those are not met by chance.
    assert np.mean(gaps) * rate == pytest.approx(1, abs=5 * variation / math.sqrt(size))
    assert np.std(gaps) / np.mean(gaps) == pytest.approx(variation, rel=0.05)


def test_the_poisson_times_are_minus_the_logarithm_of_uniforms_and_pinned() -> None:
    uniforms = np.random.Generator(np.random.PCG64(9).jumped()).random(50)
    by_hand = np.cumsum([-math.log(1 - u) / 2.5 for u in uniforms])
    np.testing.assert_allclose(arrival_times(2.5, 50, seed=9), by_hand, rtol=1e-12)
    np.testing.assert_allclose(arrival_times(1.0, 3, seed=0), PINNED_POISSON, rtol=1e-12)


def test_without_variation_arrivals_are_even() -> None:
    assert arrival_times(4.0, 3, variation=0).tolist() == [0.25, 0.5, 0.75]
    assert arrival_times(4.0, 3, variation=1e-200).tolist() == [0.25, 0.5, 0.75]
    assert arrival_times(4.0, 3, variation=1e-5).tolist() != [0.25, 0.5, 0.75]


@given(st.floats(1e-3, 1e6), sizes, seeds, st.floats(0, 100))
def test_arrivals_never_fall(rate: float, size: int, seed: int, variation: float) -> None:
    times = arrival_times(rate, size, seed, variation=variation)
    assert times.shape == (size,)
    assert np.isfinite(times).all()
    assert (np.diff(times, prepend=0.0) >= 0).all()


def test_one_seed_does_not_tie_gaps_to_lengths() -> None:
    lengths = row_lengths("decision", 20_000, seed=1)
    gaps = np.diff(arrival_times(1.0, 20_000, seed=1), prepend=0.0)
    assert abs(np.corrcoef(np.log(lengths), gaps)[0, 1]) < 5 / math.sqrt(20_000)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.inf, math.nan, 5e-324])
def test_a_bad_rate_is_refused_by_value(rate: float) -> None:
    with pytest.raises(ValueError, match=f"rate must be .* not {rate!r}"):
        arrival_times(rate, 1)


@pytest.mark.parametrize("variation", [-0.1, 101.0, math.inf, math.nan])
def test_a_bad_variation_is_refused_by_value(variation: float) -> None:
    with pytest.raises(ValueError, match=f"variation must be from 0 to 100, not {variation!r}"):
        arrival_times(1.0, 1, variation=variation)
