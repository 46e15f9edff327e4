"""Footprint: numbers of fresh processes, gathered once and skipped where there are none."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from asv_runner.benchmarks.mark import SkipNotImplemented

from benchmarks import footprint, profiles
from tests.benchmarks.fakes import FakeClock, FakeEngine, installed


def answers(monkeypatch: pytest.MonkeyPatch, **by_kind: Any) -> list[str]:
    """Processes answer with `c` where they run a string and with `m` where they run a module."""
    asked: list[str] = []

    def answer(*arguments: str) -> Any:
        asked.append(arguments[0])
        return by_kind[arguments[0].strip("-")]

    monkeypatch.setattr(footprint, "PROFILE", replace(profiles.CPU, processes=2))
    monkeypatch.setattr(footprint, "_answer", answer)
    return asked


ENGINE = {
    "start_up_seconds": 2.0,
    "capture_seconds": 0.5,
    "graph_bytes": None,
    "peak_bytes": 1_000,
}
IMPORT = {"import_seconds": 0.1, "heavy": []}


def test_every_process_gives_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answers(monkeypatch, c=IMPORT, m=ENGINE)
    results = footprint.setup_cache()
    assert asked == ["-c"] * footprint.IMPORTS + ["-m"] * 2
    benchmark = footprint.Footprint()
    assert benchmark.track_import_seconds(results)["samples"] == [0.1] * footprint.IMPORTS
    assert benchmark.track_start_up_seconds(results)["samples"] == [2.0] * 2
    assert benchmark.track_capture_seconds(results)["samples"] == [0.5] * 2
    assert benchmark.track_peak_bytes(results) == {"samples": [1_000] * 2, "number": 1}


def test_graph_memory_is_skipped_where_there_are_no_graphs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers(monkeypatch, c=IMPORT, m=ENGINE)
    with pytest.raises(SkipNotImplemented, match="no graph_bytes here"):
        footprint.Footprint().track_graph_bytes(footprint.setup_cache())


def test_a_commit_without_an_engine_still_has_its_import_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers(monkeypatch, c=IMPORT, m={"skip": "no engine"})
    results = footprint.setup_cache()
    assert footprint.Footprint().track_import_seconds(results)["number"] == 1
    with pytest.raises(SkipNotImplemented):
        footprint.Footprint().track_start_up_seconds(results)


def test_a_commit_without_a_planner_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, c={"skip": "no decider.batching"}, m=ENGINE)
    with pytest.raises(SkipNotImplemented):
        footprint.Footprint().track_import_seconds(footprint.setup_cache())


def test_a_planner_that_loads_torch_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, c={"import_seconds": 3.0, "heavy": ["torch"]}, m=ENGINE)
    with pytest.raises(RuntimeError, match="loads torch"):
        footprint.setup_cache()


def test_the_engine_is_measured_up_to_a_forward_of_the_largest_shape(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(footprint, "PROFILE", profiles.CPU)
    engine = FakeEngine(FakeClock())
    with installed(engine, monkeypatch):
        found = footprint.engine_footprint()
    _, length, batch = engine.forwards[-1]
    assert batch * length == 4_096
    assert found["capture_seconds"] == 0.5
    assert found["graph_bytes"] == 4_096
    assert footprint.Footprint().track_graph_bytes({"graph_bytes": [4_096]})["samples"] == [4_096]
    assert found["peak_bytes"] > 2**20


def test_a_missing_engine_is_the_reason_to_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "decider.engine", ModuleType("decider.engine"))
    assert "no engine" in footprint.engine_footprint()["skip"]


def test_a_real_process_imports_the_decider_that_is_tested() -> None:
    answer = footprint._answer("-c", "import decider, json; print(json.dumps(decider.__file__))")
    import decider

    assert answer == decider.__file__


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        footprint._answer("-c", "1 / 0")


def test_a_real_import_time_is_read_or_skipped() -> None:
    answer = footprint._answer("-c", footprint._IMPORT)
    assert "skip" in answer or (answer["import_seconds"] > 0 and answer["heavy"] == [])
