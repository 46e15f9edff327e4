"""The asv benchmark of forwards: measured once, read thinly, skipped and never failed."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from asv_runner.discovery import get_benchmark_from_name

from benchmarks import forward, grid_run, probes, profiles
from tests.benchmarks.fakes import FakeClock, FakeEngine, installed

ROOT = Path(__file__).resolve().parents[2]
SMALL = replace(profiles.CPU, batches=(1, 2), lengths=(64, 128), token_budget=128)
RESULTS = {"skip": None, "cells": {shape: [0.1, 0.2, 0.4] for shape in SMALL.shapes}}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEngine]:
    """The benchmark on a small profile, a fake engine and its clock."""
    clock = FakeClock()
    engine = FakeEngine(clock)
    monkeypatch.setattr(forward, "PROFILE", SMALL)
    monkeypatch.setattr(forward, "STARTED", clock())
    monkeypatch.setattr(
        probes, "open_forward_probe", partial(probes.open_forward_probe, clock=clock)
    )
    monkeypatch.setattr(grid_run, "GridRun", partial(grid_run.GridRun, clock=clock))
    with installed(engine, monkeypatch):
        yield engine


def test_the_grid_is_measured_once_with_one_engine(small: FakeEngine) -> None:
    results = forward.setup_cache()
    assert small.calls == ["capture", "seal", "close"]
    assert set(results["cells"]) == {(1, 64), (2, 64), (1, 128)}
    assert results["cells"][1, 128] == pytest.approx([1e-5 * 228] * 6)  # a value a block


def test_what_is_cached_needs_neither_torch_nor_decider_to_read(small: FakeEngine) -> None:
    cached = pickle.dumps(forward.setup_cache())
    reader = (
        "import pickle, sys\n"
        "import benchmarks.forward as forward\n"
        "results = pickle.load(sys.stdin.buffer)\n"
        "forward.Forward().setup(results, 1, 128)\n"
        "forward.Forward().track_seconds(results, 1, 128)\n"
        "print(sorted({'torch', 'transformers', 'decider', 'numpy'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", reader],
        input=cached,
        capture_output=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, profiles.VARIABLE: "cpu"},
    )
    assert done.stdout.strip() == b"[]"


def test_the_whole_document_is_written_where_a_file_is_named(
    small: FakeEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(forward.GRID_VARIABLE, str(tmp_path / "grid.json"))
    forward.setup_cache()
    assert json.loads((tmp_path / "grid.json").read_text())["complete"] is True


def test_a_reader_gives_asv_the_samples_of_its_cell(small: FakeEngine) -> None:
    assert forward.Forward().track_seconds(RESULTS, 2, 64) == {
        "samples": [0.1, 0.2, 0.4],
        "number": 1,
    }


def test_a_token_is_priced_over_every_captured_shape(small: FakeEngine) -> None:
    seconds = 3 * 0.2  # medians of three cells
    benchmark = forward.Forward()
    padded = benchmark.track_microseconds_per_padded_token(RESULTS)
    assert padded == pytest.approx(1e6 * seconds / (64 + 128 + 128))
    real = benchmark.track_microseconds_per_real_token(RESULTS)
    assert real == pytest.approx(1e6 * seconds / (32.5 + 65 + 96.5))


def test_a_shape_that_is_not_captured_is_skipped(small: FakeEngine) -> None:
    with pytest.raises(NotImplementedError, match=r"\(2, 128\) is over the token budget"):
        forward.Forward().setup(RESULTS, 2, 128)
    forward.Forward().setup(RESULTS, 2, 64)
    forward.Forward().setup(RESULTS)


def test_a_commit_without_an_engine_is_skipped(
    small: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Undone before the fixture's own fake is: the other way round that fake would stay for good.
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "decider.engine", ModuleType("decider.engine"))
        results = forward.setup_cache()
    assert results is not None  # asv would pass None to nobody
    for cell in ((1, 64), ()):
        with pytest.raises(NotImplementedError, match="no engine to measure"):
            forward.Forward().setup(results, *cell)


def test_a_captured_shape_that_was_not_measured_fails(small: FakeEngine) -> None:
    with pytest.raises(KeyError):
        forward.Forward().track_seconds({"skip": None, "cells": {}}, 1, 64)


@pytest.fixture
def discovered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Benchmarks as asv finds them in this checkout, by name, on the CPU profile."""
    monkeypatch.setenv(profiles.VARIABLE, "cpu")
    meta_path = list(sys.meta_path)
    importlib.reload(forward)
    yield lambda name: get_benchmark_from_name(str(ROOT / "benchmarks"), f"forward.Forward.{name}")
    sys.meta_path[:] = meta_path


def test_asv_sees_the_grid_and_units_and_one_cache(discovered: Any) -> None:
    seconds = discovered("track_seconds")
    tokens = [discovered(f"track_microseconds_per_{kind}_token") for kind in ("padded", "real")]
    assert seconds.param_names == ["batch", "length"]
    assert [len(values) for values in seconds.params] == [6, 10]
    assert (seconds.unit, seconds.type, seconds.version) == ("seconds", "track", "1")
    assert [(b.unit, b.version, b.params) for b in tokens] == [("microseconds", "1", [])] * 2
    assert len({b.setup_cache_key for b in (seconds, *tokens)}) == 1
    assert seconds.setup_cache_timeout == 900


def test_asv_takes_samples_from_a_reader_and_skips_by_not_implemented(discovered: Any) -> None:
    cells = {shape: [0.1] for shape in profiles.CPU.shapes}
    seconds = discovered("track_seconds")
    seconds.set_cache({"skip": None, "cells": cells})
    seconds.set_param_idx(0)
    assert seconds.do_setup() is False
    assert seconds.do_run() == {"samples": [0.1], "number": 1}
    seconds.set_param_idx(59)  # 32 x 1,024
    assert seconds.do_setup() is True


def test_a_bad_profile_stops_asv_with_a_clear_error() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import benchmarks.forward"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, profiles.VARIABLE: "tpu"},
    )
    last = done.stderr.splitlines()[-1]
    assert "DECIDER_BENCH_PROFILE='tpu': known profiles are cpu and gpu" in last
