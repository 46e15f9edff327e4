"""What a terminal shows of a comparison."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from decider.perf.comparison.assembly import assemble
from decider.perf.comparison.commits import Commit
from decider.perf.comparison.display import Display, self_test_table, table
from decider.perf.comparison.run import Progress
from decider.perf.comparison.self_test import run_record, self_test_document
from tests.perf.comparison.arms import cell
from tests.perf.comparison.runs import CELLS, Arms, finished, subject


def test_the_table_has_a_line_a_cell_and_ends_with_the_sentence():
    document = assemble(finished(Arms({"forward/1x64": 0.05})), subject())
    text = table(document)
    line = next(line for line in text.splitlines() if line.startswith("forward/1x64"))
    assert "regressed" in line
    assert f"{document['cells'][0]['change']:+.2%}" in line
    assert "control" in text
    assert text.splitlines()[-1] == document["outcome"]["sentence"]
    assert "overhead on head" in text


def test_an_undecided_cell_says_how_many_pairs_would_do():
    document = assemble(finished(Arms(noise=0.03)), subject())
    undecided = [found for found in document["cells"] if found["pairs_needed"]]
    assert undecided
    assert f"{undecided[0]['pairs_needed']} pairs would decide" in table(document)


def test_a_reason_is_shown_and_markup_is_text():
    cells = [cell("forward/1x64", skip="[red]no[/red] engine\nsecond line"), *CELLS[3:]]
    document = assemble(
        finished(Arms(cells=cells), (2,)),
        subject(head=Commit("[bold]x", "b" * 40, "s", "d")),
    )
    text = table(document, width=200)
    assert "[red]no[/red] engine" in text
    assert "second line" not in text


def test_nothing_measured_is_a_sentence():
    document = assemble(finished(Arms(fails={"head": {"start": "crash"}})), subject())
    assert "Nothing was measured" in table(document)


def shown(progress: Progress) -> str:
    file = io.StringIO()
    with Display(40, Console(file=file, width=200)) as display:
        display.show(progress)
    return file.getvalue()


def test_progress_off_a_terminal_is_a_line_a_pair():
    assert shown(Progress(3, 5, 27, 1, 8, 61.0)) == ""
    assert shown(Progress(3, 27, 27, 1, 8, 61.0)) == (
        "compare: pair 3 of at most 40, 27 of 27 visits, 1 of 8 cells decided, "
        "at most 1 min 1 s left\n"
    )


def test_no_budget_is_no_time_left():
    assert "left" not in shown(Progress(3, 27, 27, 1, 8, None))


@pytest.mark.parametrize("delay", [0.0, 0.05])
def test_a_self_test_says_its_rates_with_bounds(delay):
    record = run_record(assemble(finished(Arms()), subject()), delay)
    document = self_test_document(
        [record],
        [{"forward/1x64": 0.0123}],
        machine="m",
        commit="a" * 40,
        profile="quick",
        command="c",
        delay=0.05,
    )
    text = self_test_table(document)
    expected = "found: a delay of 5.0% in 0 of 1 runs" if delay else "0 of 1 unchanged runs"
    assert f"{expected} (0.0% to 97.5% at 95% confidence)" in text
    assert "forward/1x64: visible from +1.23%" in text
