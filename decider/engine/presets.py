"""The models that need no checkpoint: configurations of one hybrid family, by name.

Three gated-delta linear-attention layers to one of full attention, as in Qwen3.5. `tiny` is deep
and narrow, so that a forward has a real fixed cost; `2b` has the shape of Qwen3.5-2B. This file
holds numbers only.
"""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    "tiny": {
        "vocab_size": 1_024,
        "hidden_size": 64,
        "intermediate_size": 192,
        "num_hidden_layers": 8,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 2,
        "linear_key_head_dim": 32,
        "linear_value_head_dim": 32,
        "max_position_embeddings": 32_768,
        # Wide enough that untrained layers mix tokens: a leak of padding would show in the answers.
        "initializer_range": 0.1,
    },
    "2b": {
        "vocab_size": 248_320,
        "hidden_size": 2_048,
        "intermediate_size": 6_144,
        "num_hidden_layers": 24,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "head_dim": 256,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 16,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "max_position_embeddings": 262_144,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10_000_000.0,
            "partial_rotary_factor": 0.25,
            "mrope_section": [11, 11, 10],
        },
    },
}
