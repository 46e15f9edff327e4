"""Frozen queues: the same row lengths for every commit that is measured.

Nothing here may come from the commit under test, so the mixes of `decider.workloads` are repeated
as they were when they were frozen, and tests pin them. Change one only together with `VERSION`, and
with the `version` of the benchmarks that use it: results before and after are not comparable.
"""

from __future__ import annotations

import csv
from datetime import datetime
from itertools import groupby
from pathlib import Path

import numpy as np

VERSION = "1"

# (probability, tokens); between two of them the logarithm of the length is a straight line.
ANCHORS = {
    "short": (
        *((0.0, 10), (0.01, 18), (0.25, 20), (0.5, 40), (0.8, 70), (0.9, 320)),
        *((0.95, 573), (0.99, 1_470), (0.999, 3_000), (1.0, 9_370)),
    ),
    "decision": (
        *((0.0, 12), (0.05, 24), (0.25, 80), (0.5, 224), (0.75, 760), (0.9, 2_280)),
        *((0.95, 4_399), (0.98, 8_400), (1.0, 8_822)),
    ),
    "chat": (
        *((0.0, 2), (0.01, 29), (0.05, 181), (0.1, 207), (0.2, 387), (0.3, 403)),
        *((0.5, 1_020), (0.75, 1_189), (0.8, 1_315), (0.9, 2_734), (0.95, 4_083)),
        *((0.99, 4_142), (0.999, 6_212), (1.0, 14_050)),
    ),
    "code": (
        *((0.0, 3), (0.01, 17), (0.1, 147), (0.25, 578), (0.5, 1_469), (0.75, 2_745)),
        *((0.8, 3_193), (0.9, 5_188), (0.95, 7_315), (0.99, 7_436), (1.0, 7_437)),
    ),
    "uniform": ((0.0, 1), (1.0, 8_192)),
    "equal": ((0.0, 200), (1.0, 200)),
    "bimodal": ((0.0, 12), (1.0, 12)),
}
MIXES = tuple(ANCHORS)
LONG_ROW = 8_000

TRACES = {"chat": "AzureLLMInferenceTrace_conv.csv", "code": "AzureLLMInferenceTrace_code.csv"}
TRACE_FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
# Seconds of trace time that pass in one window of a server that collects for 50 ms: time is
# compressed 30 and 20 times, because at the native rate such a window holds about one row.
TRACE_WINDOW_S = {"chat": 1.5, "code": 1.0}


def queue(mix: str, size: int, seed: int = 0) -> list[int]:
    """Row lengths, in tokens and in arrival order, of one queue of a mix in `MIXES`."""
    raw = np.random.PCG64(seed).random_raw(size)  # numpy keeps raw output as it is
    drawn = (raw >> np.uint64(11)) * 2.0**-53
    known, tokens = np.array(ANCHORS[mix]).T
    if mix == "uniform":
        lengths = np.interp(drawn, known, tokens)
    else:
        lengths = np.exp(np.interp(drawn, known, np.log(tokens)))
    if mix == "bimodal" and size:
        lengths[np.argmax(drawn)] = LONG_ROW
    return [int(length) for length in np.rint(lengths)]


def trace_queues(trace: str, folder: Path = TRACE_FOLDER) -> list[list[int]] | None:
    """Row lengths of the windows, empty ones left out, of a trace in `TRACES`.

    None where the file is not there; `TRACE_FOLDER` is where it is looked for.
    """
    path = folder / TRACES[trace]
    if not path.exists():
        return None
    with path.open(encoding="utf-8", newline="") as file:
        rows = [
            (datetime.fromisoformat(row["TIMESTAMP"]), int(row["ContextTokens"]))
            for row in csv.DictReader(file)
        ]
    rows.sort(key=lambda row: row[0])

    def window(row: tuple[datetime, int]) -> int:
        return int((row[0] - rows[0][0]).total_seconds() // TRACE_WINDOW_S[trace])

    return [[tokens for _, tokens in waiting] for _, waiting in groupby(rows, window)]
