"""The page of one benchmark: its data, its table, and how large it is."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest

from decider.perf.history.results_history import BenchmarkHistory
from decider.perf.history.results_reader import read_history
from decider.perf.site.benchmark_page import benchmark_page, cell_anchor, environment_texts
from decider.perf.site.changes import changes_of
from tests.perf.report.results import benchmark
from tests.perf.site.histories import commit_hash, find_jumps, write_commit, write_history

FIXED_BYTES = 16_000
BYTES_A_CELL = 450
BYTES_A_COMMIT = 60
BYTES_A_VALUE = 7
"""The budget that docs/site.md states."""


def _page(history: BenchmarkHistory) -> str:
    (changes,) = changes_of([history], find_jumps)
    return benchmark_page(history, changes)


def _data(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


@pytest.fixture
def forwards(tmp_path: Path) -> BenchmarkHistory:
    write_history(tmp_path)
    return next(iter(read_history(tmp_path)[0].benchmarks()))


def test_the_data_hold_every_value_in_the_unit_that_fits(forwards: BenchmarkHistory) -> None:
    data = _data(_page(forwards))
    assert [commit for commit, _ in data["commits"]] == [commit_hash(n) for n in range(12)]
    changed = data["cells"][0]
    assert changed["unit"] == "ms"
    ((environment, version, first, values),) = changed["stretches"]
    assert (environment, version, first) == (0, "1", 0)
    assert values == [3] * 8 + [3.6] * 4
    assert changed["changes"] == [[7, 8, "step", "▲ worse", "+20.0%", "in force"]]


def test_a_cell_without_a_value_has_nulls(forwards: BenchmarkHistory) -> None:
    failed = _data(_page(forwards))["cells"][-1]
    assert failed["stretches"][0][3] == [None] * 12


def test_the_table_lists_every_cell_the_changed_ones_first(forwards: BenchmarkHistory) -> None:
    page = _page(forwards)
    rows = re.findall(r'<tr><th scope="row"><a href="#(.*?)">(.*?)</a></th>(.*?)</tr>', page)
    assert len(rows) == 4
    anchor, label, rest = rows[0]
    assert (anchor, label) == (cell_anchor("batch 1, length 128"), "batch 1, length 128")
    assert "3.60 ms" in rest
    assert f"step, ▲ worse +20.0%, {commit_hash(8)[:8]}, in force" in rest
    assert "failed" in rows[3][2]


def test_exact_figures_keep_their_digits(tmp_path: Path) -> None:
    for number, value in enumerate([123456789.5, 123456789.25]):
        write_commit(tmp_path, number, {"plans.track_x": benchmark({}, [value], "tokens")})
    (history,) = read_history(tmp_path)[0].benchmarks()
    page = _page(history)
    assert _data(page)["cells"][0]["stretches"][0][3] == [123456789.5, 123456789.25]
    assert "123456789.25" in page
    assert "exact: any difference is a change" in page


def test_environments_are_told_by_what_differs() -> None:
    old = (("cpu", "A"), ("torch", "2.1"))
    new = (("cpu", "A"), ("torch", "2.2"))
    assert environment_texts([old, new]) == ["torch 2.1", "torch 2.2"]
    assert environment_texts([old, old[:1]]) == ["torch 2.1", "torch not recorded"]
    assert environment_texts([old]) == ["the same throughout"]


@pytest.mark.parametrize(("cells", "commits"), [(1, 1), (200, 50), (40, 300)])
def test_a_page_keeps_its_budget(tmp_path: Path, cells: int, commits: int) -> None:
    rng = random.Random(7)
    axes = {"mix": ["decision"], "rows": list(range(cells))}
    for number in range(commits):
        values: list[Any] = [rng.gauss(3.21e-3, 1e-4) for _ in range(cells)]
        values[0] = math.nan
        content = {"planner.Planning.time_plan": benchmark(axes, values, "seconds")}
        write_commit(tmp_path, number, content)
    (history,) = read_history(tmp_path)[0].benchmarks()
    size = len(benchmark_page(history, {}).encode())
    budget = (
        FIXED_BYTES
        + BYTES_A_CELL * cells
        + BYTES_A_COMMIT * commits
        + BYTES_A_VALUE * cells * commits
    )
    assert size <= budget
