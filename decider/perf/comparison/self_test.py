"""What this machine's comparisons are worth: how often they alarm for nothing, and find a delay.

Every run is a whole comparison of a commit with itself, in some of which every forward of one arm
is slowed. Knows documents of comparisons; measures nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Any

from decider.perf.comparison.document import SCHEMA_VERSION, SELF_TEST_SCHEMA

CONFIDENCE = 0.95


def run_record(document: Mapping[str, Any], delay: float) -> dict[str, Any]:
    """What a self-test keeps of one comparison: pairs, time, and the cells that moved."""
    cells = [*document["cells"], *([document["control"]] if document["control"] else [])]
    return {
        "delay": delay,
        "pairs": sum(bool(pair["samples"]) for pair in document["pairs"]),
        "seconds": document["spent_seconds"],
        "regressed": [cell["id"] for cell in cells if cell["verdict"] == "regressed"],
        "improved": [cell["id"] for cell in cells if cell["verdict"] == "improved"],
        "void": document["void"] is not None,
    }


def visible(document: Mapping[str, Any]) -> dict[str, float | None]:
    """The smallest visible change of each cell."""
    return {cell["id"]: cell["smallest_visible"] for cell in document["cells"]}


def is_alarm(record: Mapping[str, Any]) -> bool:
    """Whether any cell, the control among them, was called regressed or improved."""
    return bool(record["regressed"] or record["improved"])


def is_found(record: Mapping[str, Any]) -> bool:
    """Whether the delay was: a forward regressed, and the run counts."""
    return not record["void"] and any("forward" in name for name in record["regressed"])


def self_test_document(
    records: Sequence[Mapping[str, Any]],
    smallest: Sequence[Mapping[str, float | None]],
    *,
    machine: str,
    commit: str,
    profile: str,
    command: str,
    delay: float,
) -> dict[str, Any]:
    """The document of a self-test.

    Args:
        records: one a comparison, see `run_record`.
        smallest: `visible` of each comparison without a delay.
        delay: the share by which forwards were slowed in the others.
    """
    unchanged = [record for record in records if not record["delay"]]
    delayed = [record for record in records if record["delay"]]
    alarms, found = sum(map(is_alarm, unchanged)), sum(map(is_found, delayed))
    return {
        "schema": SELF_TEST_SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine,
        "commit": commit,
        "profile": profile,
        "command": command,
        "confidence": CONFIDENCE,
        "unchanged": {"runs": len(unchanged), "alarms": alarms, **_bounds(alarms, len(unchanged))},
        "delayed": {
            "delay": delay,
            "runs": len(delayed),
            "found": found,
            **_bounds(found, len(delayed)),
        },
        "smallest_visible": _medians(smallest),
        "runs": list(records),
    }


def added_up(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The newest of some self-tests, with the runs of all that are like it.

    Alike are those of one machine, commit, profile and delay: a self-test takes hours, and may be
    made in parts. The smallest visible changes are then medians over the parts' medians.
    """
    newest = max(documents, key=lambda document: str(document["made"]))
    parts = [
        document
        for document in documents
        if _subject(document) == _subject(newest) and document.get("runs")
    ]
    if len(parts) < 2:
        return dict(newest)
    whole = self_test_document(
        [run for part in parts for run in part["runs"]],
        [part["smallest_visible"] for part in parts],
        machine=newest["machine"],
        commit=newest["commit"],
        profile=newest["profile"],
        command=newest["command"],
        delay=newest["delayed"]["delay"],
    )
    return whole | {"made": newest["made"]}


def _subject(document: Mapping[str, Any]) -> tuple[Any, ...]:
    kind = tuple(document[name] for name in ("machine", "commit", "profile"))
    return *kind, document["delayed"]["delay"]


def _bounds(count: int, runs: int) -> dict[str, float | None]:
    """Exact binomial bounds (Clopper and Pearson, 1934); none without a run."""
    if not runs:
        return {"low": None, "high": None}
    from scipy import stats  # slow to import, and not every comparison has parts to add up

    low, high = stats.binomtest(count, runs).proportion_ci(CONFIDENCE, method="exact")
    return {"low": float(low), "high": float(high)}


def _medians(smallest: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    names = [*dict.fromkeys(name for found in smallest for name in found)]
    medians: dict[str, float | None] = {}
    for name in names:
        known = [value for found in smallest if (value := found.get(name)) is not None]
        medians[name] = median(known) if known else None
    return medians
