"""Which cells a comparison of two commits samples: forwards, plans and the negative control.

The cells are frozen here, so both arms sample the same ones whatever their commits ship. Loads
neither torch nor the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.profiles import Profile, Shape
from benchmarks.sampling import Timing

VERSION = "1"
"""Of the definition of the cells: change it when what is sampled changes."""

CONTROL = "control"
NAMES = ("quick", "full")

# Small and large, single rows and batches, and the six different B*T that a calibration asks for.
QUICK_SHAPES = {
    "cpu": ((1, 64), (2, 64), (8, 64), (1, 256), (4, 256), (1, 384)),
    "gpu": ((1, 64), (8, 64), (1, 512), (8, 512), (1, 2_048), (8, 2_048), (1, 8_192)),
}
QUICK_QUEUES = (("decision", 32, "ladder"), ("decision", 1_024, "ladder"), ("short", 32, "linear"))
FULL_QUEUES = tuple(
    (mix, rows, cost)
    for mix in ("short", "decision", "chat", "uniform")
    for rows in (8, 32, 128, 1_024)
    for cost in ("linear", "ladder", "measured")
)

# A block is longer than a lone benchmark's: a pair gives one value a cell, and should spend its
# time on sampling rather than on messages.
BLOCK_SECONDS = 0.05


@dataclass(frozen=True)
class ComparedCell:
    """One cell of a comparison.

    Attributes:
        id: its name in documents, such as `forward/8x256`.
        benchmark: what it belongs to: forward, plan or control.
        parameters: what tells it from the others of its benchmark.
        real_tokens, padded_tokens: of a forward; None for what has none.
    """

    id: str
    benchmark: str
    parameters: Mapping[str, str | int]
    real_tokens: float | None = None
    padded_tokens: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in messages and documents."""
        return {**vars(self), "parameters": dict(self.parameters)}


def compared_profile(profile: Profile, name: str) -> Profile:
    """`profile` with the shapes that a comparison captures and how long it samples them.

    Raises:
        ValueError: `name` is neither quick nor full.
    """
    if name not in NAMES:
        raise ValueError(f"{name!r} is no profile of a comparison; there are {', '.join(NAMES)}")
    timing: Timing = replace(profile.timing, block_seconds=BLOCK_SECONDS)
    if name == "full":
        return replace(profile, timing=timing)
    shapes = QUICK_SHAPES[profile.name]
    return replace(
        profile,
        timing=timing,
        batches=tuple(sorted({batch for batch, _ in shapes})),
        lengths=tuple(sorted({length for _, length in shapes})),
        token_budget=max(batch * length for batch, length in shapes),
    )


def compared_shapes(profile: Profile, name: str) -> list[Shape]:
    """The shapes that are sampled, in the order of the profile."""
    chosen = QUICK_SHAPES[profile.name] if name == "quick" else profile.shapes
    return [shape for shape in profile.shapes if shape in chosen]


def compared_queues(name: str) -> Sequence[tuple[str, int, str]]:
    """Mix, rows and cost model of each plan that is timed."""
    return QUICK_QUEUES if name == "quick" else FULL_QUEUES


def forward_cell(profile: Profile, shape: Shape) -> ComparedCell:
    """The cell of a forward."""
    batch, length = shape
    return ComparedCell(
        f"forward/{batch}x{length}",
        "forward",
        {"batch": batch, "length": length},
        profile.mean_real_tokens(batch, length),
        batch * length,
    )


def plan_cell(mix: str, rows: int, cost: str) -> ComparedCell:
    """The cell of the time of a plan."""
    parameters: dict[str, str | int] = {"mix": mix, "rows": rows, "cost": cost}
    return ComparedCell(f"plan/{mix}/{rows}/{cost}", "plan", parameters)


CONTROL_CELL = ComparedCell(CONTROL, CONTROL, {})
