"""What changed in many series."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from decider.perf.history import findings
from decider.perf.history.changes import Change
from decider.perf.history.findings import CONFIRMED, confirmed_up_to, is_in_force, search
from decider.perf.history.series import read_series
from tests.perf.history.folders import EXACT, TIMES, commit_hash, noisy, write_series


def test_a_finding_names_the_commits(tmp_path: Path) -> None:
    write_series(tmp_path, [*noisy(30), *noisy(10, 0.12, 30)])
    found = search(read_series(tmp_path).series)
    (finding,) = found.findings
    assert (finding.series.benchmark, finding.change.kind) == (TIMES, "step")
    assert finding.after.hash == commit_hash(29)
    assert finding.commit.hash == finding.most_likely.hash == commit_hash(30)
    assert finding.range == f"{commit_hash(29)[:8]}..{commit_hash(30)[:8]}"
    assert finding.in_force
    assert finding.confirmed
    assert finding.is_regression
    assert (found.searched, found.noisy, found.too_short, found.unmeasured) == (1, 1, 0, 0)


def test_rates_are_worse_when_they_fall(tmp_path: Path) -> None:
    write_series(tmp_path, [*noisy(30), *noisy(10, 0.08, 30)], unit="rows/s")
    (finding,) = search(read_series(tmp_path).series).findings
    assert finding.is_regression


def test_what_went_back_is_over(tmp_path: Path) -> None:
    write_series(tmp_path, [*noisy(20), *noisy(10, 0.12, 20), *noisy(10, 0.1, 30)])
    better, worse = sorted(
        search(read_series(tmp_path).series).findings, key=lambda one: one.change.worse
    )
    assert better.in_force
    assert not worse.in_force
    assert not worse.is_worse


def _change(before: float, after: float) -> Change:
    return Change("step", 1, 0, before, after, after / before - 1, after > before, 1, 0.0)


@pytest.mark.parametrize(
    ("newest", "in_force"), [(1.2, True), (1.11, True), (1.1, True), (1.09, False), (0.9, False)]
)
def test_half_of_a_change_must_be_left(newest: float, in_force: bool) -> None:
    assert is_in_force([_change(1, 1.2), _change(1.2, newest)], _change(1, 1.2)) is in_force
    mirrored = _change(1, 0.8)
    assert is_in_force([mirrored, _change(0.8, 2 - newest)], mirrored) is in_force


def test_exact_figures_are_steps_however_small_and_few(tmp_path: Path) -> None:
    write_series(tmp_path, noisy(1), extra={EXACT: 0.9})
    write_series(tmp_path, noisy(1), first=1, extra={EXACT: 0.9 + 1e-9})
    found = search(read_series(tmp_path).series)
    (finding,) = found.findings
    assert (finding.series.benchmark, finding.is_regression) == (EXACT, True)
    assert (found.searched, found.noisy, found.too_short) == (1, 0, 1)


def test_series_without_a_value_are_counted_apart(tmp_path: Path) -> None:
    write_series(tmp_path, [None, math.nan, None])
    found = search(read_series(tmp_path).series)
    assert (found.findings, found.unmeasured, found.too_short) == ((), 1, 0)


@given(st.lists(st.floats(0, 1), max_size=30))
def test_confirmed_are_those_of_benjamini_and_hochberg(chances: list[float]) -> None:
    limit = confirmed_up_to(chances)
    if chances:
        adjusted = stats.false_discovery_control(chances, method="bh")
        expected = [float(one) <= CONFIRMED * (1 + 1e-12) for one in adjusted]
        clear = [abs(float(one) - CONFIRMED) > 1e-9 for one in adjusted]
        for one, confirmed, certain in zip(chances, expected, clear, strict=True):
            assert not certain or (one <= limit) == confirmed
    else:
        assert limit == 0


def test_a_change_that_is_clear_in_one_series_is_not_among_many(tmp_path: Path) -> None:
    chance = 0.005
    assert confirmed_up_to([chance]) >= chance
    assert confirmed_up_to([chance, *[1.0] * 50]) < chance
    assert confirmed_up_to([chance] * 50) >= chance  # many at once support each other


def test_several_processes_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_series(tmp_path, [*noisy(30), *noisy(10, 0.12, 30)])
    series = read_series(tmp_path).series
    alone = search(series)
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(findings, "MANY_VALUES", 1)
    monkeypatch.setattr(findings.os, "cpu_count", lambda: 2)
    assert search(series, lambda done, count: told.append((done, count))) == alone
    assert told == [(1, 1)]
