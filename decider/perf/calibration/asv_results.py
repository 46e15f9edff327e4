"""Cells in asv's result files: which file is meant, and the forwards in it.

Reads the JSON itself: asv is not needed to read what it wrote. Its files hold a bare NaN for a
skipped cell, which Python reads and strict readers do not.
"""

from __future__ import annotations

import contextlib
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from decider.grid import BucketGrid, Shape
from decider.perf.calibration.measurement import Measurement, Run, measurement, smallest_grid

BENCHMARK = "forward.Forward.track_seconds"
ENVIRONMENT_FIELDS = (
    *("machine", "cpu", "gpu", "driver", "os", "num_cpu", "ram"),
    *("torch", "transformers", "numpy"),
)


@dataclass(frozen=True)
class ResultFile:
    """One asv result file: what it was measured on, when, and its content."""

    path: Path
    machine: str
    commit: str
    dates: tuple[float, float]
    values: Mapping[str, Any]

    @property
    def has_times(self) -> bool:
        """Whether any cell was measured: a commit without an engine skips them all."""
        return any(value == value for value in _row(self.values)["result"] or [] if value)


def read_asv_results(
    path: Path, machine: str | None = None, commit: str | None = None
) -> Measurement:
    """The measurement in an asv result file or in the newest fitting one of a results folder.

    Args:
        path: a result file, a machine's folder, or a folder of such folders.
        machine: the machine's name; by default this machine's, or the only one there is.
        commit: the beginning of the commit's hash; by default the newest commit measured.

    Raises:
        ValueError: no result fits, or several machines do; the message lists what there is.
        OSError: a file cannot be read.
    """
    if path.is_file():
        return _measurement(_load(path))
    files = [file for file in _result_files(path) if file.has_times]
    if not files:
        raise ValueError(
            f"{path}: no asv result holds {BENCHMARK}; measure with `asv run --record-samples` or "
            "`python -m benchmarks.forward --out grid.json`"
        )
    chosen = _of_machine(files, machine, path)
    if commit:
        chosen = [file for file in chosen if file.commit.startswith(commit)]
        if not chosen:
            known = ", ".join(sorted({file.commit[:8] for file in files}))
            raise ValueError(f"{path}: no result of commit {commit!r}; measured are {known}")
    return _measurement(max(chosen, key=lambda file: file.dates))


def _result_files(folder: Path) -> Iterable[ResultFile]:
    """The result files in a folder that hold forwards; others are nobody's mistake."""
    for path in sorted(folder.rglob("*.json")):
        with contextlib.suppress(ValueError):
            yield _load(path)


def _load(path: Path) -> ResultFile:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        row = _row(values)
        return ResultFile(
            path,
            str(values["params"].get("machine", "")),
            str(values["commit_hash"]),
            (float(values.get("date") or 0), float(row.get("started_at") or 0)),
            values,
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: no asv result with {BENCHMARK}: {error!r}") from None


def _row(values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of the forward benchmark by name; columns at the end may be left out."""
    return dict(zip(values["result_columns"], values["results"][BENCHMARK], strict=False))


def _of_machine(files: Sequence[ResultFile], machine: str | None, path: Path) -> list[ResultFile]:
    names = sorted({file.machine for file in files})
    wanted = machine or (names[0] if len(names) == 1 else platform.node())
    if wanted not in names:
        cause = f"no result of machine {machine!r}" if machine else "results of several machines"
        raise ValueError(f"{path}: {cause}; --machine names one of {', '.join(names)}")
    return [file for file in files if file.machine == wanted]


def _measurement(file: ResultFile) -> Measurement:
    row = _row(file.values)
    batches, lengths = ([int(text) for text in axis] for axis in row["params"])
    results = row["result"] or [None] * (len(batches) * len(lengths))
    samples = row.get("samples") or [None] * len(results)
    blocks: dict[Shape, Run] = {}
    failed: list[Shape] = []
    for shape, result, taken in zip(
        (Shape(*axes) for axes in product(batches, lengths)), results, samples, strict=True
    ):
        if result is None:
            failed.append(shape)
        elif result == result:  # NaN: skipped, since the grid does not capture it
            blocks[shape] = _blocks(taken or [result])
    return measurement(
        blocks,
        str(file.path),
        grid=_grid(batches, lengths, [*blocks, *failed]),
        environment=_environment(file, row),
        queueing=False,
    )


def _blocks(seconds: Sequence[float]) -> Run:
    """The benchmark hands asv the median of each block as a sample: a block of one, in ms."""
    return tuple((1000 * value,) for value in seconds)


def _grid(batches: Sequence[int], lengths: Sequence[int], shapes: Sequence[Shape]) -> BucketGrid:
    budget = smallest_grid(shapes).token_budget if shapes else 1
    return BucketGrid(tuple(sorted(lengths)), tuple(sorted(batches)), budget)


def _environment(file: ResultFile, row: Mapping[str, Any]) -> dict[str, Any]:
    params = file.values["params"]
    environment = {name: params[name] for name in ENVIRONMENT_FIELDS if params.get(name)}
    environment |= {"commit": file.commit, "python": file.values.get("python")}
    return environment | {"benchmark version": row.get("version")}
