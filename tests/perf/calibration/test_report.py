"""What people and programs are shown: complete, strict JSON, nothing interpreted as markup."""

import json

import pytest
from rich.console import Console

from decider.grid import CPU_GRID, BucketGrid, Shape
from decider.perf.calibration.calibration import calibrate
from decider.perf.calibration.measurement import combined, measurement
from decider.perf.calibration.queues import queues_of_mixes
from decider.perf.calibration.report import answer, facts, fit_sentence, show, to_dict
from decider.perf.calibration.simulation import knee
from tests.perf.calibration.measurements import noisy, on_a_line

STRATA = queues_of_mixes(["short", "decision"], 3, 1024)


def shown(calibration):
    console = Console(width=120, no_color=True)
    with console.capture() as captured:
        show(calibration, console)
    return captured.get()


@pytest.fixture(scope="module")
def good():
    return calibrate(noisy(), STRATA, current=0, baseline=noisy(1))


def test_the_answer_stands_first(good):
    first, second = shown(good).splitlines()[:2]
    assert first == f"derived overhead: {good.derived} token-units"
    assert second.startswith(f"change to {good.derived}:")


def test_everything_is_shown(good):
    text = shown(good)
    for part in (
        *("whole grid", "single rows", "43 cells", "8 blocks", "No lack of fit"),
        *("Error of the line by B·T", "held-out cells", "ladder, 0", "linear, 0", "decision"),
        *("8192", "Since simulated: overhead", "note: one run"),
    ):
        assert part in text


def test_r_squared_is_nowhere(good):
    assert "squared" not in shown(good)
    assert "r2" not in json.dumps(to_dict(good)).lower()


def test_json_is_strict_and_complete(good):
    values = json.loads(json.dumps(to_dict(good), allow_nan=False))
    assert values["schema"] == "decider.calibration/1"
    assert values["derived"] == good.derived
    assert values["refusals"] == []
    assert values["decision"]["recommendation"]["action"] == "change"
    assert len(values["decision"]["excess"]) == 10
    assert set(values["decision"]["sweep"]) >= {"0", "8192", str(good.derived)}
    assert values["fits"]["whole_grid"]["interval"][0] < 667
    assert len(values["cells"]) == 43
    assert values["drift"]["ratio"] == pytest.approx(1, rel=0.02)


@pytest.mark.parametrize(
    "refused",
    [
        on_a_line(0, grid=CPU_GRID),
        on_a_line(667, complete=False),
        on_a_line(667, [Shape(1, 64), Shape(2, 64)]),
        on_a_line(667, [Shape(1, 64)]),
        measurement({Shape(1, t): ((float("nan"),),) for t in (1, 2)}, "test"),
        measurement({Shape(1, t): ((1.0 / t,),) for t in range(1, 30)}, "test"),
    ],
    ids=["bound", "unfinished", "two sizes", "one cell", "not a number", "falling"],
)
def test_a_refusal_is_shown_with_its_cure_and_still_strict_json(refused):
    calibration = calibrate(refused, [])
    text = shown(calibration)
    assert text.startswith("refused (")
    assert "cure: " in text
    assert "derived overhead" not in text
    assert json.loads(json.dumps(to_dict(calibration), allow_nan=False))["derived"] is None


def test_names_from_outside_are_no_markup():
    hostile = on_a_line(667, environment={"machine": "[bold]m[/nosuch]"}, grid=CPU_GRID)
    assert "[bold]m[/nosuch]" in shown(calibrate(hostile, []))


def test_each_run_is_told():
    runs = combined([on_a_line(n, blocks=3, grid=CPU_GRID) for n in (600, 660, 720)])
    assert "overhead of each run: 600, 660, 720" in shown(calibrate(runs, []))


def test_keeping_is_said_with_what_a_change_would_save():
    calibration = calibrate(noisy(grid=BucketGrid()), queues_of_mixes(["short"], 3, 8192))
    sentence = answer(calibration.decision.recommendation)
    assert sentence.startswith("keep 512: 512 or 66")
    assert "makes no difference to users; a change would save 0." in sentence


def test_lack_of_fit_is_said_with_where_and_what_predicts_better():
    sentence = fit_sentence(calibrate(noisy(work=knee, grid=BucketGrid()), []).goodness)
    assert sentence.startswith("Lack of fit (F test, p < 1e-06): the line is no true model")
    assert "on average at B·T of 64" in sentence
    assert "knee) predicts held-out cells better" in sentence


def test_the_facts_behind_a_constant_name_command_machine_and_commit():
    cells = noisy()
    known = {"machine": "lab", "commit": "abc", "gpu": None}
    calibration = calibrate(
        measurement(
            {c.shape: c.runs[0] for c in cells.cells}, "x", grid=CPU_GRID, environment=known
        ),
        STRATA,
        current=0,
    )
    found = facts(calibration, "decider calibrate grid.json --write")
    assert found["command"] == "`decider calibrate grid.json --write`"
    assert (found["machine"], found["commit"]) == ("lab", "abc")
    assert "gpu" not in found
    assert found["advice"].startswith("change to")
