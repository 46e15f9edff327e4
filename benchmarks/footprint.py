"""What it costs to be there: import time, start-up and capture time, graph memory, peak memory.

Each number comes from fresh processes, started by `setup_cache` once a commit; the `track_` methods
only read it. A commit without an engine is still measured by its import time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.profiles import SEED, chosen

PROFILE = chosen()
IMPORTS = 9

_IMPORT = """
import json, sys, time
start = time.perf_counter()
try:
    import decider.batching
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("decider"):
        raise
    print(json.dumps({"skip": str(error)}))
else:
    seconds = time.perf_counter() - start
    heavy = sorted({"torch", "transformers"} & set(sys.modules))
    print(json.dumps({"import_seconds": seconds, "heavy": heavy}))
"""

Results = dict[str, Any]


def setup_cache() -> Results:
    """Every number of this commit, by name, one value a process.

    Raises:
        RuntimeError: a process failed, or importing the planner loads torch or transformers.
    """
    imports = [_answer("-c", _IMPORT) for _ in range(IMPORTS)]
    if heavy := imports[0].get("heavy"):
        raise RuntimeError(f"import decider.batching loads {', '.join(heavy)}")
    engines = [_answer("-m", "benchmarks.footprint") for _ in range(PROFILE.processes)]
    return _by_name(imports) | _by_name(engines)


setup_cache.timeout = 900  # type: ignore[attr-defined]


class Footprint:
    """Numbers of whole processes; lower is better."""

    version = "1"

    def track_import_seconds(self, results: Results) -> dict[str, Any]:
        """`import decider.batching`, interpreter start not counted."""
        return _samples(results, "import_seconds")

    def track_start_up_seconds(self, results: Results) -> dict[str, Any]:
        """Import of the engine and opening of the model, until it can capture."""
        return _samples(results, "start_up_seconds")

    def track_capture_seconds(self, results: Results) -> dict[str, Any]:
        """Capture of the whole grid; only where there are graphs."""
        return _samples(results, "capture_seconds")

    def track_graph_bytes(self, results: Results) -> dict[str, Any]:
        """Device memory that capturing the grid took; only where there are graphs."""
        return _samples(results, "graph_bytes")

    def track_peak_bytes(self, results: Results) -> dict[str, Any]:
        """Most host memory resident until after a forward of the largest shape."""
        return _samples(results, "peak_bytes")

    for _method in (track_import_seconds, track_start_up_seconds, track_capture_seconds):
        _method.unit = "seconds"  # type: ignore[attr-defined]
    for _method in (track_graph_bytes, track_peak_bytes):
        _method.unit = "bytes"  # type: ignore[attr-defined]
    del _method


def engine_footprint() -> Results:
    """The engine's numbers in this process, which must be fresh; or the reason to skip them."""
    from benchmarks.probes import EngineMissingError, open_forward_probe

    try:
        with open_forward_probe(PROFILE, SEED) as opened:
            largest = max(PROFILE.shapes, key=lambda shape: (shape[0] * shape[1], shape))
            opened.probe.sample(largest, repeats=1)
            graphs = opened.graph_bytes
            return {
                "start_up_seconds": opened.start_up_seconds,
                "capture_seconds": opened.capture_seconds if graphs else None,
                "graph_bytes": sum(graphs.values()) if graphs else None,
                "peak_bytes": peak_bytes(),
            }
    except EngineMissingError as missing:
        return {"skip": str(missing)}


def peak_bytes() -> int:
    """The most memory this process has had resident."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _answer(*arguments: str) -> Results:
    import decider

    assert decider.__file__ is not None
    tested = Path(decider.__file__).resolve().parents[1]
    suite = Path(__file__).resolve().parents[1]
    # The suite last: its folder may hold another `decider` than the one under test. What is there
    # already comes first: it is how an older commit is kept from importing newer modules.
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([*([inherited] if inherited else []), str(tested), str(suite)])
    done = subprocess.run(
        [sys.executable, "-P", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{arguments[0]} {arguments[1][:40]}: {done.stderr[-2000:]}")
    answer: Results = json.loads(done.stdout.splitlines()[-1])
    return answer


def _by_name(answers: list[Results]) -> Results:
    return {name: [answer[name] for answer in answers] for name in answers[0] if name != "heavy"}


def _samples(results: Results, name: str) -> dict[str, Any]:
    values = results.get(name, [None])
    if values[0] is None:
        # outside `setup` asv takes no other exception for a skip
        from asv_runner.benchmarks import mark  # type: ignore[import-untyped]

        raise mark.SkipNotImplemented(f"no {name} here")
    return {"samples": values, "number": 1}


if __name__ == "__main__":
    print(json.dumps(engine_footprint()))
