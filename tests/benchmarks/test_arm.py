"""An arm answers messages about one commit's cells."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import arm as module
from benchmarks.arm import Arm, flat, serve, shipped_constant, work_clock
from benchmarks.probes import EngineMissingError
from benchmarks.profiles import CPU, GPU

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def without_engine(monkeypatch) -> Arm:
    """The arm of a commit that has a planner and no engine: nothing slow is loaded."""

    def missing(*_):
        raise EngineMissingError("this commit has no engine")

    monkeypatch.setattr(module, "open_forward_probe", missing)
    return Arm(CPU, "quick", 0.0, ExitStack())


def answers(arm: Arm, *messages) -> list[dict]:
    stream = io.StringIO()
    text = "".join(json.dumps(message) + "\n" for message in messages)
    serve(arm, io.StringIO(text), stream)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_it_says_first_what_it_can_sample_and_on_what(without_engine):
    [hello] = answers(without_engine)
    skipped = {cell["id"]: cell["skip"] for cell in hello["cells"]}
    assert skipped["forward/1x64"] == "this commit has no engine"
    assert skipped["plan/decision/32/ladder"] is None
    assert skipped["control"] is None
    assert hello["environment"]["definition"].startswith("cells ")
    assert hello["constant"] == 128
    assert hello["graphs"] is None


def test_what_belongs_to_a_commit_is_no_environment(without_engine):
    [hello] = answers(without_engine)
    assert not {"commit", "dirty", "time"} & set(hello["environment"])


def test_a_cell_is_warmed_up_and_sampled(without_engine):
    cell = "plan/decision/32/ladder"
    _, warm, sampled = answers(
        without_engine,
        {"do": "warm_up", "cell": cell},
        {"do": "sample", "cell": cell, "repeats": 3},
    )
    assert warm["repeats"] >= 1
    assert all(seconds > 0 for seconds in sampled["seconds"])
    assert sampled["sm_mhz"] is None


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ({"do": "sample", "cell": "forward/9x9", "repeats": 1}, "no cell 'forward/9x9'"),
        ({"do": "sample", "cell": "forward/1x64", "repeats": 1}, "no cell 'forward/1x64'"),
        ({"do": "dance"}, "unknown message 'dance'"),
    ],
)
def test_a_mistake_is_answered_and_it_lives_on(without_engine, message, error):
    _, found, after = answers(without_engine, message, {"do": "pin", "cpus": _allowed()})
    assert error in found["error"]
    assert after == {}


def test_stop_ends_it(without_engine):
    assert len(answers(without_engine, {"do": "stop"}, {"do": "dance"})) == 1


def test_an_environment_is_flat():
    assert flat({"a": None, "b": [1], "c": {"d": 2}, "e": True}) == {
        "a": None,
        "b": "[1]",
        "c": '{"d": 2}',
        "e": True,
    }


def test_the_clock_does_not_count_what_else_runs_on_the_core_nor_miss_the_gpu():
    assert work_clock(CPU) is time.process_time
    assert work_clock(replace(CPU, threads=2)) is time.perf_counter
    assert work_clock(GPU) is time.perf_counter


def test_the_constant_is_that_of_the_device():
    from decider.batching import DEFAULT_MERGE_OVERHEAD_TOKENS

    assert shipped_constant("cuda") == DEFAULT_MERGE_OVERHEAD_TOKENS
    assert shipped_constant("cpu") == 128


def test_a_real_arm_samples_forwards_and_keeps_its_answers_apart():
    """What libraries print at their start is on standard error; every line of output is JSON."""
    messages = [
        {"do": "pin", "cpus": _allowed()[-1:]},
        {"do": "sample", "cell": "forward/1x64", "repeats": 1},
        {"do": "sample", "cell": "control", "repeats": 1},
        {"do": "stop"},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.arm", "--profile", "quick"],
        input="".join(json.dumps(message) + "\n" for message in messages),
        env={**os.environ, "DECIDER_BENCH_PROFILE": "cpu"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    hello, pinned, forward, control = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(cell["skip"] is None for cell in hello["cells"])
    assert hello["environment"]["engine.model"] == "tiny"
    assert pinned == {}
    assert all(seconds > 0 for seconds in [*forward["seconds"], *control["seconds"]])


def _allowed() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
