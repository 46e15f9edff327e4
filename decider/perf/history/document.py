"""What `decider history` writes as JSON: the findings, and what they were found in.

Knows findings; reads and prints nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from decider.perf.history.findings import Finding, Search
from decider.perf.history.results_history import Commit
from decider.perf.history.series import SeriesFolder
from decider.version import __version__

SCHEMA = "decider-history"
SCHEMA_VERSION = 1


def to_document(folder: SeriesFolder, searched: Search, shown: Sequence[Finding]) -> dict[str, Any]:
    """Everything as plain JSON values; what is infinite or no number becomes null.

    Args:
        folder: what was read.
        searched: what was found in it.
        shown: the findings that were asked for.
    """
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "version": __version__,
        "commits": len(folder.commits),
        "newest": _commit(folder.commits[-1]) if folder.commits else None,
        "series": {
            "searched": searched.searched,
            "noisy": searched.noisy,
            "too_short": searched.too_short,
            "unmeasured": searched.unmeasured,
        },
        "changes": [_finding(finding) for finding in shown],
        "breaks": [
            {
                "machine": one.machine,
                "what": one.what,
                "commit": _commit(one.commit),
                "cells": one.cells,
            }
            for one in folder.breaks
        ],
        "unreadable": list(folder.unreadable),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    series, change = finding.series, finding.change
    return {
        "machine": series.machine,
        "benchmark": series.benchmark,
        "parameters": series.label,
        "unit": series.unit,
        "higher_is_better": series.higher_is_better,
        "exact": series.exact,
        "version": series.version,
        "environment": dict(series.environment),
        "kind": change.kind,
        "worse": change.worse,
        "in_force": finding.in_force,
        "confirmed": finding.confirmed,
        "chance": change.chance,
        "change": change.change if math.isfinite(change.change) else None,
        "before": change.before_value,
        "after": change.after_value,
        "last_before": _commit(finding.after),
        "first_after": _commit(finding.commit),
        "most_likely": _commit(finding.most_likely),
    }


def _commit(commit: Commit) -> dict[str, str]:
    return {"hash": commit.hash, "date": commit.committed.isoformat()}
