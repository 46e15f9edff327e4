"""The file of a measured forward grid, schema "decider.grid/1": writing it, and going on with one.

Strict JSON. Times of cells are milliseconds; everything called seconds is seconds. Knows samples
and plain values: no engine, no torch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.profiles import Profile, Shape
from benchmarks.sampling import Block, CellSamples, Timing

SCHEMA = "decider.grid/1"
INTERRUPTED = "interrupted"

NOT_COMPARED = {"time"}
"""Fields of the environment in which two processes of one run may differ."""


def grid_document(
    profile: Profile,
    timing: Timing,
    environment: Mapping[str, Any],
    samples: Mapping[Shape, CellSamples],
    spent: Mapping[str, float],
    *,
    processes: int = 1,
    engine: Mapping[str, Any] | None = None,
    capture_seconds: float = 0.0,
    graph_bytes: Mapping[Shape, int] | None = None,
    device_readings: str = "",
) -> dict[str, Any]:
    """The grid as plain JSON values.

    Cells without a block are left out, and `complete` says whether every cell has stopped.

    Args:
        samples: by (batch, length).
        spent: seconds by what they were spent on.
        processes: processes that the samples come from; more than one after a resumed run.
        engine: what the engine says of itself.
        capture_seconds: what capturing the grid took.
        graph_bytes: device memory of each captured graph; empty where there are no graphs.
        device_readings: where the device's state was read, or why it was not.
    """
    cells = [samples[shape] for shape in profile.shapes if samples[shape].blocks]
    return {
        "schema": SCHEMA,
        "profile": profile.name,
        "model": profile.model,
        "grid": profile.grid().to_dict(),
        "environment": dict(environment),
        "engine": dict(engine or {}),
        "capture": {
            "seconds": round(capture_seconds, 3),
            "graph_bytes": [[*shape, bytes_] for shape, bytes_ in (graph_bytes or {}).items()],
        },
        "timing": timing_document(timing),
        "device_readings": device_readings,
        "processes": processes,
        "spent_seconds": {name: round(seconds, 3) for name, seconds in spent.items()},
        "complete": all(samples[shape].stop is not None for shape in profile.shapes),
        "cells": [_cell_to_dict(profile, cell) for cell in cells],
    }


def timing_document(timing: Timing) -> dict[str, Any]:
    """How the cells were timed, as the file says it."""
    return {
        "method": "host-to-host forward",
        "minimum_seconds": timing.minimum_seconds,
        "block_seconds": timing.block_seconds,
        "warm_up_seconds": timing.warm_up_seconds,
        "half_width": timing.half_width,
        "time_cap_seconds": timing.time_cap_seconds,
        "queueing": False,
    }


def to_text(document: Mapping[str, Any]) -> str:
    """The document as strict JSON, a line a cell.

    Raises:
        ValueError: it holds a number that JSON has no word for.
    """
    head = {name: value for name, value in document.items() if name != "cells"}
    lines = [f" {json.dumps(n)}: {json.dumps(v, allow_nan=False)}" for n, v in head.items()]
    cells = ",\n".join(f"  {json.dumps(c, allow_nan=False)}" for c in document["cells"])
    lines.append(f' "cells": [\n{cells}\n ]' if cells else ' "cells": []')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_document(path: Path) -> dict[str, Any]:
    """A document that `to_text` wrote.

    Raises:
        ValueError: the file cannot be read, is no JSON or has another schema; the message names it.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise ValueError(f"{path}: not a forward grid of schema {SCHEMA!r}: found {schema!r}")
    found: dict[str, Any] = document
    return found


def known_samples(document: Mapping[str, Any]) -> list[CellSamples]:
    """The samples in a document, to go on with.

    Raises:
        ValueError: a cell lacks a field.
    """
    try:
        return [_cell_from_dict(cell) for cell in document["cells"]]
    except (KeyError, TypeError) as error:
        raise ValueError(f"damaged cell: bad or missing field {error}") from None


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """In what two documents cannot be one run: "field: value before, value now", empty if nothing.

    Profile, model, grid and timing count, and every field of the environment but the time.
    """
    found = _differences(before, now, ("profile", "model", "grid"))
    for part in ("timing", "environment"):
        old, new = before.get(part, {}), now.get(part, {})
        found += _differences(old, new, sorted({*old, *new} - NOT_COMPARED))
    return found


def _differences(
    before: Mapping[str, Any], now: Mapping[str, Any], names: Iterable[str]
) -> list[str]:
    return [
        f"{name}: {before.get(name)!r} before, {now.get(name)!r} now"
        for name in names
        if before.get(name) != now.get(name)
    ]


def _cell_to_dict(profile: Profile, samples: CellSamples) -> dict[str, Any]:
    batch, length = samples.cell
    kept, dropped, found = samples.kept, samples.dropped, samples.estimate()
    microseconds = found.median * 1e6
    cell: dict[str, Any] = {
        "batch": batch,
        "length": length,
        "milliseconds": _ms(found.median),
        "interval": [_ms(bound) for bound in found.interval],
        "half_width": round(found.half_width, 6),
        "stop": samples.stop or INTERRUPTED,
        "microseconds_per_padded_token": round(microseconds / (batch * length), 6),
        "microseconds_per_real_token": round(
            microseconds / profile.mean_real_tokens(batch, length), 6
        ),
        "repeats": samples.repeats,
        "seconds": round(samples.spent, 3),
        "dropped_blocks": len(dropped),
        "blocks": [_block_ms(block) for block in kept],
    }
    if any(block.device for block in samples.blocks):
        cell["devices"] = [block.device for block in kept]
        cell["dropped"] = [{"block": _block_ms(b), "device": b.device} for b in dropped]
    return cell


def _cell_from_dict(cell: Mapping[str, Any]) -> CellSamples:
    devices = cell.get("devices") or [None] * len(cell["blocks"])
    blocks = [
        Block([ms / 1000 for ms in block], device)
        for block, device in zip(cell["blocks"], devices, strict=True)
    ]
    blocks += [
        Block([ms / 1000 for ms in entry["block"]], entry["device"])
        for entry in cell.get("dropped", [])
    ]
    return CellSamples(
        cell=(cell["batch"], cell["length"]),
        blocks=blocks,
        repeats=cell["repeats"],
        spent=cell["seconds"],
        stop=None if cell["stop"] == INTERRUPTED else cell["stop"],
    )


def _block_ms(block: Block) -> list[float]:
    return [_ms(seconds) for seconds in block.seconds]


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 6)
