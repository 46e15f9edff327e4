"""Reads asv's results folder into a history, one file after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from decider.perf.report.result_file import read_result
from decider.perf.site.results_history import ResultsHistory

MOST_NAMED = 10


def read_history(
    path: Path, progress: Callable[[str, int, int], None] = lambda *_: None
) -> tuple[ResultsHistory, list[str]]:
    """What is in asv's results folder, `MACHINE/COMMIT-ENVIRONMENT.json` below it.

    `read_results_folder` of the report keeps every sample, which for years of results is more than
    a machine's memory; here a file is forgotten before the next one is read.

    Returns:
        the history, and a sentence for each file that could not be read and was left out.

    Raises:
        ValueError: there is no folder, no result, or none that can be read.
    """
    way_out = "`make bench` makes some, or `asv run --record-samples 'HEAD^!'`"
    if not path.is_dir():
        raise ValueError(f"{path}: no folder of asv results; {way_out}")
    files = [file for file in sorted(path.glob("*/*.json")) if file.name != "machine.json"]
    if not files:
        raise ValueError(f"{path}: no asv result; {way_out}")
    declared, problems = _declared(path / "benchmarks.json")
    history = ResultsHistory()
    for done, file in enumerate(files):
        progress("results", done, len(files))
        try:
            history.add(read_result(file, declared))
        except ValueError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{file}: {error.strerror or error}")
    if not history.runs:
        raise ValueError(f"{path}: no result can be read:\n" + "\n".join(problems[:MOST_NAMED]))
    return history, problems


def _declared(path: Path) -> tuple[Mapping[str, Any], list[str]]:
    """What asv knows of its benchmarks. Without it, units and parameters have no names."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(values, dict):
            raise ValueError("no JSON object")
    except OSError as error:
        return {}, [f"{path}: {error.strerror or error}: units are not known"]
    except (ValueError, RecursionError) as error:
        return {}, [f"{path}: {error}: units are not known"]
    return values, []
