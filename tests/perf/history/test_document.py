"""The JSON of `decider history`."""

from __future__ import annotations

import json
from pathlib import Path

from decider.perf.history.document import to_document
from decider.perf.history.findings import search
from decider.perf.history.series import read_series
from tests.perf.history.folders import EXACT, TIMES, commit_hash, noisy, write_series


def test_it_holds_all_that_was_found_as_strict_json(tmp_path: Path) -> None:
    write_series(tmp_path, noisy(20), extra={EXACT: 0.0})
    write_series(tmp_path, noisy(10, 0.12, 20), first=20, extra={EXACT: 0.5})
    write_series(tmp_path, [0.1], first=30, torch="3")
    folder = read_series(tmp_path)
    found = search(folder.series)
    document = json.loads(json.dumps(to_document(folder, found, found.findings), allow_nan=False))
    assert (document["schema"], document["schema_version"]) == ("decider-history", 1)
    assert document["commits"] == 31
    assert document["newest"]["hash"] == commit_hash(30)
    assert document["series"] == {"searched": 2, "noisy": 1, "too_short": 1, "unmeasured": 0}
    assert [one["what"] for one in document["breaks"]] == ["torch 2.11.0 -> 3"]
    by_name = {one["benchmark"]: one for one in document["changes"]}
    step = by_name[TIMES]
    assert step["parameters"] == "batch 8"
    assert (step["kind"], step["worse"], step["in_force"], step["confirmed"]) == (
        *("step", True, True, True),
    )
    assert step["last_before"]["hash"] == commit_hash(19)
    assert step["first_after"]["hash"] == step["most_likely"]["hash"] == commit_hash(20)
    assert step["environment"]["torch"] == "2.11.0"
    assert by_name[EXACT]["change"] is None  # from zero
    assert (by_name[EXACT]["before"], by_name[EXACT]["after"]) == (0.0, 0.5)
