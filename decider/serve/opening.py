"""From settings to a batcher: the engine, its grid, the cost and the planner of one server.

Loads torch when called, not when imported; knows no HTTP.
"""

from __future__ import annotations

from dataclasses import dataclass

from decider.batching import Planner
from decider.engine import Engine, open_engine
from decider.grid import CPU_GRID, BucketGrid
from decider.serve.batcher import Batcher
from decider.serve.pricing import Pricing, pricing
from decider.serve.settings import Settings, variable


@dataclass(frozen=True)
class Opened:
    """An engine that has captured nothing yet, and what batches for it."""

    settings: Settings
    engine: Engine
    pricing: Pricing
    batcher: Batcher

    def notes(self) -> list[str]:
        """What is used, where the cost was measured, and what is wasteful about the grid."""
        described = self.engine.describe()
        grid = self.engine.grid
        findings = grid.lint(
            max_batch=self.settings.max_batch, max_row_tokens=self.settings.max_row_tokens
        )
        return [
            f"model: {described['model']}, {described['dtype']}, {described['backend']} on "
            f"{described['device']} ({described['device_name']}), {described['threads']} threads",
            f"grid: {len(grid.shapes)} shapes up to {grid.batch_buckets[-1]} rows and "
            f"{grid.length_buckets[-1]} tokens, budget {grid.token_budget}",
            f"cost: {self.pricing.source}",
            *(f"grid finding {finding.code}: {finding.message}" for finding in findings),
        ]


def open_batcher(settings: Settings) -> Opened:
    """Open the engine and put a batcher before it; start the batcher with `engine.capture`.

    Raises:
        ValueError: the engine, the grid or the cost refuses a setting; the message names it.
    """
    on_cpu = _on_cpu(settings.device)
    grid = settings.grid(CPU_GRID if on_cpu else BucketGrid())
    priced = pricing(settings, grid, on_cpu=on_cpu)
    try:
        engine = open_engine(
            settings.model, grid=grid, device=settings.device, threads=settings.threads
        )
    except ValueError as error:
        names = f"{variable('model')}={settings.model!r}, {variable('device')}={settings.device!r}"
        raise ValueError(f"{names}: {error}") from None
    batcher = Batcher(
        engine,
        Planner(grid, priced.cost, settings.max_batch),
        max_batch=settings.max_batch,
        wait_ms=settings.batch_wait_ms,
        adaptive_wait_ms=settings.batch_adaptive_wait_ms,
        max_queue_rows=settings.max_queue_rows,
        forward_timeout_s=settings.forward_timeout_s,
    )
    return Opened(settings, engine, priced, batcher)


def _on_cpu(device: str) -> bool:
    if device != "auto":
        return device.startswith("cpu")
    import torch

    return not torch.cuda.is_available()
