"""The decision model: a causal hybrid backbone and a readout at the slots.

It knows torch and transformers; no grid, no backend. The layers are those of transformers. Only the
loop over them is ours: transformers' own prepares masks on every forward, for which the host reads
the positions back from the device, and rows padded on the right need none, because every layer here
(convolution, gated delta rule, causal attention) looks to the left only.

Without `flash-linear-attention` and `causal-conv1d` the layers use transformers' torch code. Its
shapes depend on the input's shape alone and it never waits for the host, as a CUDA graph demands.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import initialization
from transformers.models.qwen3_5.configuration_qwen3_5 import Qwen3_5TextConfig
from transformers.models.qwen3_5.modeling_qwen3_5 import (
    Qwen3_5PreTrainedModel,
    Qwen3_5TextModel,
)

from decider.engine.presets import PRESETS
from decider.engine.rows import MIN_OPTIONS, Limits


class DecisionConfig(Qwen3_5TextConfig):  # type: ignore[no-untyped-call]
    """The backbone's configuration, the outputs of the readout and the slots a row may have."""

    model_type = "decider"
    max_options: int = 32
    max_slots: int = 16


class DecisionModel(Qwen3_5PreTrainedModel):  # type: ignore[no-untyped-call]
    """Probabilities over each slot's options.

    Raises:
        ValueError: the configuration has fewer than two options or no slots.
    """

    config: DecisionConfig  # type: ignore[assignment]
    config_class = DecisionConfig

    def __init__(self, config: DecisionConfig) -> None:
        if config.max_options < MIN_OPTIONS:
            raise ValueError(f"max_options must be at least {MIN_OPTIONS}: {config.max_options}")
        if config.max_slots < 1:
            raise ValueError(f"max_slots must be at least 1: {config.max_slots}")
        config._attn_implementation = "sdpa"
        config.use_cache = False
        super().__init__(config)
        self.model = Qwen3_5TextModel(config)
        self.readout = nn.Linear(config.hidden_size, config.max_options, bias=False)
        self.post_init()  # type: ignore[no-untyped-call]

    @property
    def limits(self) -> Limits:
        """What rows of this model may hold."""
        return Limits(
            vocabulary_size=self.config.vocab_size,
            max_options=self.config.max_options,
            max_slots=self.config.max_slots,
            max_row_tokens=self.config.max_position_embeddings,
        )

    def forward(self, tokens: Tensor, places: Tensor, options: Tensor) -> Tensor:
        """Probabilities of shape (batch, slots, `max_options`), float32, 0 beyond a slot's options.

        Args:
            tokens: (batch, length), padded on the right with any token.
            places: (batch, slots), row * length + position of each slot's token.
            options: (batch, slots), how many outputs of the readout each slot is restricted to.
        """
        hidden = self._hidden(tokens).flatten(0, 1)
        slots = self.model.norm(hidden.index_select(0, places.flatten()))
        # In float32: a softmax over logits of 8 significant bits would tie options for no reason.
        logits = functional.linear(slots.float(), self.readout.weight.float())
        outputs = torch.arange(self.config.max_options, device=logits.device)
        unused = outputs >= options.flatten()[:, None]
        probabilities = logits.masked_fill(unused, float("-inf")).softmax(-1)
        return probabilities.view(*places.shape, -1)

    def _hidden(self, tokens: Tensor) -> Tensor:
        hidden: Tensor = self.model.embed_tokens(tokens)
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        # One set of angles for all rows; 3 for time, height and width, which text has alike.
        rotary = self.model.rotary_emb(hidden, positions.expand(3, 1, -1))
        for layer in self.model.layers:
            hidden = layer(hidden, position_embeddings=rotary, attention_mask=None)
        return hidden

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)  # type: ignore[no-untyped-call]
        if module is getattr(self, "readout", None):  # logits of unit size, not all but equal
            initialization.normal_(module.weight, std=self.config.hidden_size**-0.5)

    def save_pretrained(  # type: ignore[override]
        self, save_directory: str | os.PathLike[str], **options: Any
    ) -> None:
        """Write the checkpoint folder, whole or not at all.

        Raises:
            ValueError: the folder exists and is not empty.
            OSError: it cannot be written.
        """
        folder = Path(save_directory)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ValueError(f"{folder} exists and is not an empty folder: choose another")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
            whole = Path(scratch) / "checkpoint"
            super().save_pretrained(whole, **options)
            whole.replace(folder)


def build_preset(name: str, *, device: str = "cpu", dtype: str = "float32", seed: int = 0) -> Any:
    """The `DecisionModel` of a preset, its weights drawn from `seed`.

    A seed's weights are drawn in float32 and then rounded to `dtype`. They differ between kinds of
    device, which have generators of their own.

    Raises:
        ValueError: an unknown preset; the message lists the known ones.
    """
    if name not in PRESETS:
        raise ValueError(f"no preset {name!r}; known: {', '.join(PRESETS)}")
    target = torch.device(device)
    with (
        torch.random.fork_rng([target] if target.type == "cuda" else []),
        target,
    ):
        torch.manual_seed(seed)
        model: nn.Module = DecisionModel(DecisionConfig(**PRESETS[name]))
    for weight in model.parameters():  # not the angles of the rotary embedding: those stay float32
        weight.data = weight.data.to(getattr(torch, dtype))
    return model.eval().requires_grad_(False)
