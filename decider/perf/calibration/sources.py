"""Which reader reads which path."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

from decider.perf.calibration.asv_results import read_asv_results
from decider.perf.calibration.grid_file import read_grid_file
from decider.perf.calibration.measurement import Measurement, combined
from decider.perf.calibration.table_file import read_table


def read_sources(
    paths: Sequence[Path], machine: str | None = None, commit: str | None = None
) -> Measurement:
    """The measurement in one or several files, each a run of the same commit and machine.

    Args:
        paths: grid files, CSV tables, asv result files or folders of them.
        machine, commit: which asv result of a folder is meant, see `read_asv_results`.

    Raises:
        ValueError: a path cannot be read or understood, or the runs do not belong together; the
            message names the path.
    """
    return combined([read_source(path, machine, commit) for path in paths])


def read_source(path: Path, machine: str | None = None, commit: str | None = None) -> Measurement:
    """The measurement at one path; see `read_sources`."""
    try:
        if path.is_dir():
            return read_asv_results(path, machine, commit)
        if path.suffix.lower() == ".csv":
            return read_table(path)
        return read_grid_file(path) if _is_grid_file(path) else read_asv_results(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: no text table: {error}") from None


def _is_grid_file(path: Path) -> bool:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(
            f"{path}: neither a CSV table nor JSON ({error}); give a grid file, an asv result or a "
            "table named *.csv"
        ) from None
    return isinstance(values, dict) and ("schema" in values or "results" not in values)
