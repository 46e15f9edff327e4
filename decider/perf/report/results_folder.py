"""asv's results folder: which results there are, and which one is meant."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from decider.perf.report.result_file import Result, read_result

MOST_NAMED = 10


@dataclass(frozen=True)
class ResultsFolder:
    """The readable results of a folder, and a sentence for each file that could not be read."""

    path: Path
    results: tuple[Result, ...]
    unreadable: tuple[str, ...] = ()

    def choose(self, machine: str | None = None, commit: str | None = None) -> Result:
        """The newest result that fits: of the newest commit, the one measured last, an asv run
        rather than a comparison.

        Args:
            machine: the machine's name.
            commit: the beginning of the commit's hash.

        Raises:
            ValueError: none fits; the message lists the machines or commits that there are.
        """
        fitting = [result for result in self.results if machine in (None, result.machine)]
        if not fitting:
            known = _named(sorted({result.machine for result in self.results}))
            raise ValueError(f"{self.path}: no result of machine {machine!r}; there are {known}")
        chosen = [result for result in fitting if result.commit.startswith(commit or "")]
        if not chosen:
            newest = sorted(fitting, key=lambda result: result.age, reverse=True)
            known = _named(list(dict.fromkeys(result.commit[:8] for result in newest)))
            where = f" on machine {machine!r}" if machine else ""
            raise ValueError(
                f"{self.path}: no result of commit {commit!r}{where}; measured are {known}"
            )
        if len({result.commit for result in chosen}) > 1 and commit:
            known = _named(sorted({result.commit[:12] for result in chosen}))
            raise ValueError(f"{self.path}: commit {commit!r} is ambiguous: {known}")
        return max(chosen, key=_newest_last)

    def whole(self, result: Result) -> Result:
        """`result` with every benchmark of its file, where the folder was read in part.

        Raises:
            ValueError: the file is damaged.
            OSError: it cannot be read again.
        """
        return read_result(result.path, _declared(self.path / "benchmarks.json")[0])


def read_results_folder(path: Path, only: Collection[str] | None = None) -> ResultsFolder:
    """Every result in asv's results folder: `MACHINE/COMMIT-ENVIRONMENT.json` below it.

    A file that cannot be read is told and left out, since a folder of years may hold one.

    Args:
        path: the folder.
        only: the benchmarks to read of each file; None for all. `ResultsFolder.whole` reads the
            rest of one.

    Raises:
        ValueError: there is no folder, no result, or none that can be read; the message says how
            to make one.
    """
    problems: list[str] = []
    results = tuple(each_result(path, problems, only))
    return ResultsFolder(path, results, tuple(problems))


def each_result(
    path: Path,
    problems: list[str],
    only: Collection[str] | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Iterator[Result]:
    """The results of a folder one by one: years of them, samples and all, may not fit in memory.

    Args:
        path, only: as `read_results_folder` takes them.
        problems: gets a sentence for each file that cannot be read.
        progress: called with the files done and their number.

    Raises:
        ValueError: as `read_results_folder` does, when the last file has been tried.
    """
    way_out = "`make bench` makes some, or `asv run --record-samples 'HEAD^!'`"
    if not path.is_dir():
        raise ValueError(f"{path}: no folder of asv results; {way_out}")
    files = [file for file in sorted(path.glob("*/*.json")) if file.name != "machine.json"]
    if not files:
        raise ValueError(f"{path}: no asv result; {way_out}")
    declared, unreadable = _declared(path / "benchmarks.json")
    problems += unreadable
    read = 0
    for done, file in enumerate(files):
        progress(done, len(files))
        try:
            result = read_result(file, declared, only)
        except ValueError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{file}: {error.strerror or error}")
        else:
            read += 1
            yield result
    if not read:
        raise ValueError(f"{path}: no result can be read:\n" + "\n".join(problems[:MOST_NAMED]))


def _newest_last(result: Result) -> tuple[datetime, bool, datetime]:
    committed, measured = result.age
    return committed, not result.is_paired, measured


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


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
