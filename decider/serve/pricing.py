"""Which cost the server plans with, and where it comes from, in words.

Knows settings, grids and costs; opens no engine.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import NamedTuple

from decider import costs
from decider.batching import DEFAULT_MERGE_OVERHEAD_TOKENS
from decider.costs import Cost, LadderCost, LinearCost, MeasuredCost
from decider.grid import BucketGrid
from decider.serve.settings import CPU_MERGE_OVERHEAD_TOKENS, Settings, variable

CPU_TABLE = "cpu-tiny.json"
"""The measured table of the CPU default in `decider/data`, where one is shipped."""


KINDS = ("linear", "ladder")


class Pricing(NamedTuple):
    """A cost, and a sentence on what it is and where it was measured."""

    cost: Cost
    source: str


def pricing(settings: Settings, grid: BucketGrid, *, on_cpu: bool) -> Pricing:
    """The cost that the settings ask for.

    With nothing set, the CPU default is priced with its shipped table where that covers the grid,
    else as a ladder with the constant of its kind of device.

    Raises:
        ValueError: DECIDER_COST names no cost and no readable table, or the table does not cover
            the grid. The message names the variable.
    """
    if settings.cost not in KINDS:
        return _from_file(settings.cost, grid)
    untouched = settings.merge_overhead_tokens is None and "cost" not in settings.model_fields_set
    if untouched and on_cpu and settings.model == "tiny" and (shipped := _shipped(grid)):
        return shipped
    overhead, source = _overhead(settings, on_cpu)
    linear = settings.cost == "linear"
    cost = LinearCost(overhead) if linear else LadderCost(overhead, grid)
    return Pricing(cost, f"{settings.cost}, overhead {overhead:g} token-units, {source}")


def _overhead(settings: Settings, on_cpu: bool) -> tuple[float, str]:
    if settings.merge_overhead_tokens is not None:
        return settings.merge_overhead_tokens, f"set by {variable('merge_overhead_tokens')}"
    if on_cpu:
        return (
            CPU_MERGE_OVERHEAD_TOKENS,
            "measured on another CPU for the tiny preset; `decider calibrate` derives yours",
        )
    return (
        DEFAULT_MERGE_OVERHEAD_TOKENS,
        "inherited, measured on decider-2b; `decider calibrate` derives yours",
    )


def _from_file(path: str, grid: BucketGrid) -> Pricing:
    try:
        cost = costs.load(path, grid)
    except ValueError as error:
        raise ValueError(
            f"{variable('cost')}={path!r}: neither linear nor ladder nor a cost file: {error}"
        ) from None
    measured = f", measured on {cost.source}" if isinstance(cost, MeasuredCost) else ""
    return Pricing(cost, f"{path}{measured}")


def _shipped(grid: BucketGrid) -> Pricing | None:
    shipped = files("decider") / "data" / CPU_TABLE
    if not shipped.is_file():
        return None
    with as_file(shipped) as path:
        try:
            cost = costs.load(path, grid)
        except ValueError:  # it does not cover a grid of one's own
            return None
    if not isinstance(cost, MeasuredCost):
        return None
    return Pricing(cost, f"the shipped table {CPU_TABLE}, measured on {cost.source}")
