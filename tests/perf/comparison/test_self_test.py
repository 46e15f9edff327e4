"""A self-test counts alarms and finds, with exact bounds."""

from __future__ import annotations

import pytest

from decider.perf.comparison.assembly import assemble
from decider.perf.comparison.document import check_self_test
from decider.perf.comparison.self_test import (
    added_up,
    is_alarm,
    is_found,
    run_record,
    self_test_document,
    visible,
)
from tests.perf.comparison.runs import Arms, finished, subject


def record(delay=0.0, regressed=(), improved=(), void=False):
    return {
        "delay": delay,
        "pairs": 14,
        "seconds": 100.0,
        "regressed": list(regressed),
        "improved": list(improved),
        "void": void,
    }


def made(records, smallest=()):
    found = self_test_document(
        records, smallest, machine="m", commit="a" * 40, profile="quick", command="c", delay=0.05
    )
    check_self_test(found)
    return found


def test_a_run_is_recorded_from_its_document():
    found = run_record(assemble(finished(Arms({"forward/1x64": 0.05})), subject()), 0.05)
    assert found["regressed"] == ["forward/1x64", "mean/forward"]
    assert found["improved"] == []
    assert found["pairs"] == 20
    assert not found["void"]


def test_a_control_that_moved_is_an_alarm_and_no_find():
    found = run_record(assemble(finished(Arms({"control": 0.05})), subject()), 0.0)
    assert found["void"]
    assert is_alarm(found)
    assert not is_found(record(0.05, ["forward/1x64", "control"], void=True))


def test_any_move_is_an_alarm_and_only_a_slower_forward_is_a_find():
    assert is_alarm(record(improved=["plan/short/32/linear"]))
    assert not is_alarm(record())
    assert is_found(record(0.05, ["forward/1x64"]))
    assert is_found(record(0.05, ["mean/forward"]))
    assert not is_found(record(0.05, ["mean/plan"]))
    assert not is_found(record(0.05, ["plan/short/32/linear"]))


def test_bounds_are_clopper_and_pearsons():
    found = made([record()] * 20 + [record(0.05, ["forward/1x64"])] * 10)
    assert found["unchanged"]["alarms"] == 0
    assert found["unchanged"]["high"] == pytest.approx(1 - 0.025 ** (1 / 20))  # their closed form
    assert found["delayed"]["found"] == 10
    assert found["delayed"]["low"] == pytest.approx(0.025 ** (1 / 10))


def test_parts_of_one_self_test_add_up():
    parts = [
        made([record(), record(0.05, ["forward/1x64"])], [{"forward/1x64": 0.02}])
        | {"made": "2026-12-01T04"},
        made([record(improved=["forward/1x64"])], [{"forward/1x64": 0.04}])
        | {"made": "2026-12-01T05"},
    ]
    whole = added_up(parts)
    check_self_test(whole)
    assert (whole["unchanged"]["runs"], whole["unchanged"]["alarms"]) == (2, 1)
    assert (whole["delayed"]["runs"], whole["delayed"]["found"]) == (1, 1)
    assert whole["smallest_visible"] == {"forward/1x64": 0.03}
    assert whole["made"] == "2026-12-01T05"
    assert len(whole["runs"]) == 3


@pytest.mark.parametrize(
    "other",
    [{"commit": "b" * 40}, {"machine": "other"}, {"profile": "full"}, {"runs": []}],
)
def test_self_tests_of_different_things_do_not_add_up(other):
    newest = made([record()]) | {"made": "2026-12-01T05"}
    older = made([record(), record()]) | {"made": "2026-12-01T04"} | other
    assert added_up([older, newest]) == newest


def test_self_tests_with_different_delays_do_not_add_up():
    newest = made([record(0.05)]) | {"made": "2026-12-01T05"}
    older = made([record(0.1)]) | {"made": "2026-12-01T04"}
    older["delayed"]["delay"] = 0.1
    assert added_up([older, newest]) == newest


def test_no_run_of_a_kind_has_no_bounds():
    found = made([record()])
    assert found["delayed"]["low"] is None


def test_the_smallest_visible_change_is_the_median_of_the_runs_that_know_it():
    found = made([record()] * 3, [{"a": 0.02, "b": None}, {"a": 0.04}, {"a": 0.03}])
    assert found["smallest_visible"] == {"a": 0.03, "b": None}


def test_visible_is_by_cell():
    found = visible(assemble(finished(Arms()), subject()))
    assert set(found) == {
        "forward/1x64",
        "forward/4x64",
        "forward/1x256",
        "plan/decision/32/ladder",
        "mean/forward",
    }
