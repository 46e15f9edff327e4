"""The decision model: its presets, its readout and its independence from padding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from decider.engine import Row, Slot
from decider.engine.model import DecisionConfig, DecisionModel, build_preset
from decider.engine.presets import PRESETS


def parameters(model: Any) -> int:
    return sum(weight.numel() for weight in model.parameters())


def test_tiny_is_deep_narrow_and_small(tiny_model: Any) -> None:
    assert tiny_model.config.num_hidden_layers == 8
    assert tiny_model.config.hidden_size == 64
    assert parameters(tiny_model) == pytest.approx(600_000, rel=0.1)


def test_2b_has_the_shape_it_is_named_for() -> None:
    with torch.device("meta"):
        model = DecisionModel(DecisionConfig(**PRESETS["2b"]))
    hidden, options = 2_048, model.config.max_options
    mlp = 3 * hidden * 6_144
    linear = hidden * (4 * 2_048) + 2 * hidden * 16 + 2_048 * hidden + 4 * 3 * 2_048 + 2 * 16 + 128
    full = hidden * (2 * 8 + 2 * 2) * 256 + 8 * 256 * hidden + 2 * 256
    layers = 18 * linear + 6 * full + 24 * (mlp + 2 * hidden)
    assert parameters(model) == layers + 248_320 * hidden + hidden + options * hidden
    assert parameters(model) == pytest.approx(1.9e9, rel=0.02)


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_three_linear_attention_layers_stand_to_one_of_full_attention(name: str) -> None:
    kinds = DecisionConfig(**PRESETS[name]).layer_types
    assert kinds == (["linear_attention"] * 3 + ["full_attention"]) * (len(kinds) // 4)


def test_a_seed_gives_the_same_weights_and_leaves_the_generator_alone(tiny_model: Any) -> None:
    state = torch.random.get_rng_state()
    again, other = build_preset("tiny", seed=3), build_preset("tiny", seed=4)
    assert torch.equal(torch.random.get_rng_state(), state)
    for name, weight in tiny_model.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name])
    assert not torch.equal(tiny_model.readout.weight, other.readout.weight)


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(ValueError, match="no preset 'huge'; known: tiny, 2b"):
        build_preset("huge")


@pytest.mark.parametrize(
    ("field", "message"), [({"max_options": 1}, "max_options"), ({"max_slots": 0}, "max_slots")]
)
def test_a_readout_without_a_choice_is_refused(field: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DecisionModel(DecisionConfig(**PRESETS["tiny"] | field))


def plain_answers(model: Any, row: Row) -> list[Any]:
    """The row's answers by transformers' own forward over the bare row, and by hand."""
    with torch.inference_mode():
        output = model.model(input_ids=torch.tensor([row.tokens]), use_cache=False)
    hidden = output.last_hidden_state[0].numpy()
    answers = []
    for position, options in row.slots:
        odds = np.exp(model.readout.weight.numpy()[:options] @ hidden[position])
        answers.append(odds / odds.sum())
    return answers


@pytest.mark.parametrize("length", [1, 63, 64, 65, 130])
@pytest.mark.parametrize("padding", [0, 70])
def test_the_answer_is_that_of_the_bare_row_whatever_stands_to_the_right(
    tiny_model: Any, length: int, padding: int
) -> None:
    generator = np.random.default_rng(length)
    row = generator.integers(1_024, size=length).tolist()
    position = length // 2
    expected = plain_answers(tiny_model, Row(row, [Slot(position, 7)]))[0]
    for filler in (0, 1_023):
        with torch.inference_mode():
            found = tiny_model(
                torch.tensor([row + [filler] * padding]),
                torch.tensor([[position, length - 1]]),
                torch.tensor([[7, 2]]),
            ).numpy()
        assert found.shape == (1, 2, tiny_model.config.max_options)
        np.testing.assert_allclose(found[0, 0, :7], expected, atol=1e-5)
        assert not found[0, 0, 7:].any()
        assert found[0, 1, :2].sum() == pytest.approx(1)


def test_a_token_is_felt_far_to_its_right_and_never_to_its_left(tiny_model: Any) -> None:
    """Without this the tests of padding would pass on a model that looks at one token only."""
    tokens = np.random.default_rng(0).integers(1_024, size=130)
    changed = tokens.copy()
    changed[65] = (changed[65] + 1) % 1_024
    places = torch.tensor([[64, 65, 100, 129]])
    options = torch.full_like(places, 32)
    with torch.inference_mode():
        before, after = (
            tiny_model(torch.tensor(row)[None], places, options)[0] for row in (tokens, changed)
        )
    moved = (before - after).abs().amax(-1)
    assert moved[0] == pytest.approx(0, abs=1e-7)
    assert (moved[1:] > 1e-3).all()


def test_a_forward_of_2b_never_reads_a_tensor_on_the_host() -> None:
    """A meta tensor has no data: `.item()`, a data-dependent shape or a branch would raise. So a
    CUDA graph may record it."""
    with torch.device("meta"), torch.inference_mode():
        model = DecisionModel(DecisionConfig(**PRESETS["2b"])).to(torch.bfloat16).eval()
        slots = torch.zeros(4, 16, dtype=torch.int64)
        found = model(torch.zeros(4, 130, dtype=torch.int64), slots, slots)
    assert (found.shape, found.dtype) == ((4, 16, 32), torch.float32)
