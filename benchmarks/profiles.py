"""What the forward grid is on which machine: the frozen shapes, model and timing of each profile.

Chosen when asv imports the suite, so nothing here may load torch, and nothing comes from the commit
under test: a commit that changes the product's default grid is still measured on these shapes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.sampling import Timing

if TYPE_CHECKING:
    from decider.grid import BucketGrid

VARIABLE = "DECIDER_BENCH_PROFILE"
SEED = 20_260_101

Shape = tuple[int, int]
"""Batch bucket and length bucket: plain, so that a reader unpickles results without `decider`."""

LENGTHS = (
    *(64, 128, 192, 256, 320, 384, 512, 640, 768, 1024),
    *(1280, 1536, 2048, 3072, 4096, 6144, 8192),
)
BATCHES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Profile:
    """A grid of shapes, the model to run on them and how to time it."""

    name: str
    model: str
    device: str
    threads: int
    batches: tuple[int, ...]
    lengths: tuple[int, ...]
    token_budget: int
    timing: Timing
    processes: int
    """Fresh processes that start-up and memory are measured in."""

    @property
    def shapes(self) -> list[Shape]:
        """Every captured shape, by length and then by batch."""
        return [
            (batch, length)
            for length in self.lengths
            for batch in self.batches
            if batch == 1 or batch * length <= self.token_budget
        ]

    def grid(self) -> BucketGrid:
        """The shapes as the engine takes them."""
        from decider.grid import BucketGrid

        return BucketGrid(
            length_buckets=self.lengths,
            batch_buckets=self.batches,
            token_budget=self.token_budget,
        )

    def mean_real_tokens(self, batch: int, length: int) -> float:
        """Real tokens of a full forward, were row lengths uniform within the bucket.

        Every row is real and has between the next shorter bucket + 1 and `length` tokens, each
        number as likely as the next: a stated assumption, not a workload.
        """
        index = self.lengths.index(length)
        shortest = self.lengths[index - 1] + 1 if index else 1
        return batch * (shortest + length) / 2


CPU = Profile(
    name="cpu",
    model="tiny",
    device="cpu",
    threads=1,
    batches=BATCHES,
    lengths=tuple(length for length in LENGTHS if length <= 1_024),
    token_budget=4_096,
    timing=Timing(half_width=0.03, time_cap_seconds=1.0, warm_up_seconds=0.2),
    processes=3,
)
GPU = Profile(
    name="gpu",
    model="2b",
    device="cuda",
    threads=1,
    batches=BATCHES,
    lengths=LENGTHS,
    token_budget=32_768,
    timing=Timing(half_width=0.01, time_cap_seconds=2.0, warm_up_seconds=0.5),
    processes=1,
)
PROFILES = {profile.name: profile for profile in (CPU, GPU)}


def has_nvidia_device(device_folder: Path = Path("/dev")) -> bool:
    """Whether an NVIDIA GPU is visible, judged without loading torch or a driver library."""
    return any(device_folder.glob("nvidia[0-9]*"))


def chosen(environ: Mapping[str, str] | None = None, *, has_gpu: bool | None = None) -> Profile:
    """The profile that `DECIDER_BENCH_PROFILE` names; unset, `gpu` where there is one, else `cpu`.

    Raises:
        ValueError: the variable names no profile.
    """
    environ = os.environ if environ is None else environ
    name = environ.get(VARIABLE, "").strip().lower()
    if not name:
        has_gpu = has_nvidia_device() if has_gpu is None else has_gpu
        return GPU if has_gpu else CPU
    if name not in PROFILES:
        raise ValueError(f"{VARIABLE}={environ[VARIABLE]!r}: known profiles are cpu and gpu")
    return PROFILES[name]
