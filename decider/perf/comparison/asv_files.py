"""A comparison as asv result files, one for each side, so that asv's own pages show the runs.

The cells stand under benchmarks of their own, `paired.Forward.track_seconds` and the like, and in
environments of their own, whose names begin with `paired-`: they are measured otherwise than by
`asv run`, whose files are never touched. A sample is one process, the median of its blocks.

Knows asv and documents; measures and judges nothing.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from asv import util  # type: ignore[import-untyped]
from asv.benchmarks import Benchmarks  # type: ignore[import-untyped]
from asv.machine import Machine  # type: ignore[import-untyped]
from asv.results import Results  # type: ignore[import-untyped]
from asv.runner import BenchmarkResult  # type: ignore[import-untyped]

from decider.files import write_text
from decider.perf.comparison.document import Document

PAIRED = "paired"
FACTS = ("cpu", "gpu", "driver", "torch", "transformers", "numpy", "threads")
"""Of a side's environment, those that asv keeps results apart by."""


PARAMETERS = {
    f"{PAIRED}.Forward.track_seconds": ("batch", "length"),
    f"{PAIRED}.Plan.track_seconds": ("mix", "rows", "cost"),
}
"""asv's files hold the values of a benchmark's parameters and not their names."""


def write_asv_results(document: Document, folder: Path) -> list[Path]:
    """Write both sides of a comparison into asv's results folder.

    Of several comparisons that hold one commit in the same environment the newest counts: its file
    replaces the older one's, and an older comparison written later is left out. A comparison of a
    commit with itself gives one file, of its base.

    Args:
        document: as `decider compare` makes it; checked by the caller.
        folder: asv's results folder; made if it is missing.

    Returns:
        the result files written.

    Raises:
        ValueError: the machine's name cannot name a folder, or benchmarks.json is damaged.
        OSError: something cannot be written.
    """
    machine = _checked_machine(document["machine"])
    declared = _read_declared(folder)  # before anything is written
    sides = {document[side]["commit"]: side for side in ("head", "base")}
    made = datetime.fromisoformat(document["made"])
    written = []
    for side in sorted(sides.values()):
        results = _results(document, side, made)
        path = folder / machine / Path(results._filename).name
        if _is_newer(path, made):
            continue
        write_text(path, _text(results))
        written.append(path)
    description = folder / machine / "machine.json"
    if not description.exists():
        write_text(description, _machine_text(document, machine))
    _declare(folder, declared)
    return written


def declare_paired_benchmarks(folder: Path) -> None:
    """Have benchmarks.json name the benchmarks of all paired results in a results folder.

    `asv run` writes that file anew with those of its own suite only; asv shows no others.

    Raises:
        ValueError: benchmarks.json is damaged.
        OSError: it cannot be written.
    """
    _declare(folder, _read_declared(folder))


def _results(document: Document, side: str, made: datetime) -> Any:
    """asv's `Results` of one side."""
    facts = {name: value for name, value in document[side]["environment"].items() if value}
    python = ".".join(str(facts.get("python", "unknown")).split(".")[:2])
    results = Results(
        {
            "machine": document["machine"],
            "run": f"{PAIRED} {document['profile']}",
            "python": python,
            **{name: str(facts[name]) for name in FACTS if name in facts},
        },
        {},
        document[side]["commit"],
        util.datetime_to_js_timestamp(datetime.fromisoformat(document[side]["date"])),
        python,
        _environment_name(document["profile"], python, facts.get("torch")),
        {},
    )
    version = str(facts.get("definition", "1"))
    for cells in _by_benchmark(document).values():
        benchmark, axes = _declaration(cells, version), _axes(cells)
        values = [_samples(document, side, cell) for cell in _in_order(cells, axes)]
        outcome = BenchmarkResult(
            result=[math.nan if own is None else (median(own) if own else None) for own in values],
            samples=[own or None for own in values],
            number=[1 if own else None for own in values],
            errcode=0,
            stderr="",
            profile=None,
        )
        results.add_result(benchmark, outcome, started_at=made, record_samples=True)
    return results


def _environment_name(profile: str, python: str, torch: Any) -> str:
    name = f"{PAIRED}-{profile}-py{python}" + (f"-torch{torch}" if torch else "")
    return re.sub(r"[^A-Za-z0-9.+_-]", "_", name)[:120]  # of longer ones asv takes a hash


def _by_benchmark(document: Document) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    control = [document["control"]] if document["control"] else []
    for cell in [*document["cells"], *control]:
        found.setdefault(cell["benchmark"], []).append(cell)
    return found


def _declaration(cells: Sequence[Mapping[str, Any]], version: str) -> dict[str, Any]:
    """What asv would have discovered of the benchmark of these cells, if it were its own."""
    name = f"{PAIRED}.{cells[0]['benchmark'].title()}.track_seconds"
    return _declared(name, version, _axes(cells))


def _declared(name: str, version: str, axes: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    return {
        "name": name,
        "type": "track",
        "unit": "seconds",
        "version": version,
        "code": f"# {name}: one of two arms of `decider compare`, a sample a process",
        "param_names": list(axes),
        "params": [list(values) for values in axes.values()],
        "timeout": 60,
    }


def _axes(cells: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The values of each parameter, as asv stores them, sorted."""
    names = list(cells[0]["parameters"])
    return {name: _sorted({repr(cell["parameters"][name]) for cell in cells}) for name in names}


def _sorted(values: set[str]) -> list[str]:
    """Numbers by size and before words."""
    return sorted(values, key=lambda text: (not text.isdecimal(), len(text), text))


def _in_order(
    cells: Sequence[Mapping[str, Any]], axes: Mapping[str, Sequence[str]]
) -> Iterator[Mapping[str, Any] | None]:
    """The cell at each combination of parameters, None where the comparison has none."""
    known = {tuple(repr(cell["parameters"][name]) for name in axes): cell for cell in cells}
    return (known.get(combination) for combination in product(*axes.values()))


def _samples(document: Document, side: str, cell: Mapping[str, Any] | None) -> list[float] | None:
    """The medians of a side's blocks, one a pair; empty if it failed, None if it is no cell."""
    if cell is None:
        return None
    found = [pair["samples"].get(cell["id"]) for pair in document["pairs"]]
    return [median(median(block) for block in one[side]) for one in found if one]


def _is_newer(path: Path, made: datetime) -> bool:
    """Whether a result of a later comparison stands there."""
    try:
        existing = Results.load(str(path))
    except (util.UserError, OSError, ValueError):
        return False
    started = [value for value in existing.started_at.values() if value]
    return bool(started) and max(started) > util.datetime_to_js_timestamp(made)


def _text(results: Any) -> str:
    """What asv saves: through a folder of its own, since asv writes in place."""
    with tempfile.TemporaryDirectory() as folder:
        results.save(folder)
        return Path(folder, results._filename).read_text(encoding="utf-8")


def _checked_machine(name: str) -> str:
    if not name or name in (".", "..") or Path(name).name != name:
        raise ValueError(f"machine {name!r} cannot name a folder of asv results")
    return name


def _machine_text(document: Document, machine: str) -> str:
    known = {"machine": machine, "cpu": str(document["base"]["environment"].get("cpu") or "")}
    values = {name: known.get(name, "") for name, _ in Machine.fields}
    return json.dumps({**values, "version": Machine.api_version}, indent=4) + "\n"


def _read_declared(folder: Path) -> dict[str, Any]:
    path = folder / "benchmarks.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"version": Benchmarks.api_version}
    except ValueError as error:
        raise ValueError(f"{path}: {error}; `asv run` makes it anew") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path}: no JSON object; `asv run` makes it anew")
    return values


def _declare(folder: Path, declared: Mapping[str, Any]) -> None:
    """Add the benchmarks of every paired result to what is declared, with all their parameters."""
    versions: dict[str, tuple[int, str]] = {}
    axes: dict[str, list[set[str]]] = {}
    for results in _paired_results(folder):
        for name in results.get_all_result_keys():
            age = results.started_at.get(name) or 0, results.benchmark_version.get(name) or ""
            versions[name] = max(versions.get(name, age), age)
            own = results.get_result_params(name) or []
            known = axes.setdefault(name, [set() for _ in own])
            for values, more in zip(known, own, strict=False):
                values.update(more)
    merged = dict(declared)
    for name, (_, version) in versions.items():
        names = PARAMETERS.get(name, ())
        named = dict(zip(names, map(_sorted, axes[name]), strict=False))
        merged[name] = _declared(name, version, named)
    if merged != declared:
        write_text(folder / "benchmarks.json", json.dumps(merged, indent=4, sort_keys=True) + "\n")


def _paired_results(folder: Path) -> Iterator[Any]:
    for path in sorted(folder.glob(f"*/*-{PAIRED}-*.json")):
        with contextlib.suppress(util.UserError, OSError, ValueError):  # asv tells of such a file
            yield Results.load(str(path))
