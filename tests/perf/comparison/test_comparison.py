"""A comparison is kept after every pair and goes on from there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from decider.perf.comparison.comparison import Plan, compare
from decider.perf.comparison.document import check_comparison, read_comparison
from decider.perf.comparison.pair import Limits
from decider.perf.verdict import Design
from tests.perf.comparison.runs import BASE, HEAD, Arms, subject


class FakeWorkshop:
    """Starts arms that run nothing."""

    def __init__(self, repository: Path, arms: Arms, profile: str = "quick") -> None:
        self.repository = repository
        self.base, self.head, self.profile = BASE, HEAD, profile
        self.start = arms
        self.prepared = 0

    def prepare(self) -> None:
        self.prepared += 1

    def exact_figures(self, side):
        return subject().exact[side]


def plan(looks=(10, 14), **changed) -> Plan:
    values = {"command": "decider compare a b", "design": Design(looks=looks)}
    return Plan(**{**values, "budget_seconds": float("inf"), "limits": Limits(), **changed})


def test_a_comparison_is_a_document(tmp_path: Path):
    workshop = FakeWorkshop(tmp_path, Arms({"forward/1x64": 0.05}))
    document = compare(workshop, plan())
    check_comparison(document)
    assert workshop.prepared == 1
    assert document["base"]["commit"] == BASE.hash
    assert document["budget_seconds"] is None
    assert document["outcome"]["name"] == "regression"


def test_what_is_measured_is_kept_after_every_pair(tmp_path: Path):
    partial = tmp_path / "c.json.partial"
    kept = []

    def progress(_progress) -> None:
        if partial.exists():
            kept.append(len(read_comparison(partial)["pairs"]))

    compare(FakeWorkshop(tmp_path, Arms()), plan((2, 4)), partial=partial, progress=progress)
    assert sorted(set(kept)) == [1, 2, 3]


def test_an_interrupted_comparison_resumes_to_the_same_verdicts(tmp_path: Path):
    whole = compare(FakeWorkshop(tmp_path, Arms({"forward/1x64": 0.05})), plan())
    arms = Arms({"forward/1x64": 0.05})
    partial = tmp_path / "c.json.partial"

    def interrupt(progress) -> None:
        if progress.pair == 8 and progress.visits == 0 + 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(FakeWorkshop(tmp_path, arms), plan(), partial=partial, progress=interrupt)
    assert len(read_comparison(partial)["pairs"]) == 7
    resumed = compare(FakeWorkshop(tmp_path, arms), plan(), partial=partial, resume=True)
    assert len(resumed["pairs"]) == len(whole["pairs"])
    assert resumed["looks_taken"] == whole["looks_taken"]
    assert [c["verdict"] for c in resumed["cells"]] == [c["verdict"] for c in whole["cells"]]


@pytest.mark.parametrize(
    ("place", "value", "name"),
    [
        (("base", "commit"), "c" * 40, "base"),
        (("profile",), "full", "profile"),
        (("design", "margin"), 0.5, "margin"),
        (("design", "looks"), [3], "looks"),
    ],
)
def test_another_comparison_is_not_resumed(tmp_path: Path, place, value, name):
    partial = tmp_path / "c.json.partial"
    compare(FakeWorkshop(tmp_path, Arms()), plan((2,)), partial=partial)
    document = json.loads(partial.read_text())
    part = document
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    partial.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=f"its {name} is"):
        compare(FakeWorkshop(tmp_path, Arms()), plan((2,)), partial=partial, resume=True)


def test_a_failure_is_said_at_once(tmp_path: Path):
    said = []
    arms = Arms(fails={"head": {"forward/1x64": "timeout"}})
    compare(FakeWorkshop(tmp_path, arms), plan((2,)), say=said.append)
    assert said[0] == "pair 1: head in forward/1x64: timeout: forward/1x64 failed"


def test_the_newest_self_test_of_the_machine_is_quoted(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("DECIDER_MACHINE", "m")
    folder = tmp_path / ".asv" / "self-tests"
    folder.mkdir(parents=True)
    for number, (machine, made) in enumerate(
        [("m", "2026-01-01"), ("m", "2026-03-01"), ("n", "2027")]
    ):
        test = {
            "schema": "decider-self-test",
            "schema_version": 1,
            "made": made,
            "machine": machine,
            "commit": "a" * 40,
            "profile": "quick",
            "command": "c",
            "confidence": 0.95,
            "unchanged": {"runs": 1, "alarms": 0, "low": 0.0, "high": 0.975},
            "delayed": {"delay": 0.05, "runs": 0, "found": 0, "low": None, "high": None},
            "smallest_visible": {},
        }
        (folder / f"{number}.json").write_text(json.dumps(test))
    (folder / "damaged.json").write_text("{")
    document = compare(FakeWorkshop(tmp_path, Arms()), plan((2,)))
    assert document["self_test"]["made"] == "2026-03-01"
