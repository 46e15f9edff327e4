"""Heat maps of a comparison."""

from __future__ import annotations

from decider.perf.report.compared.maps import BETTER, WORSE, forward_maps, plan_maps
from decider.perf.report.heat_maps import HeatMap, Square
from tests.perf.report.comparisons import all_failed, cell, comparison, empty, void, whole
from tests.perf.report.contrast import contrast


def _squares(table: HeatMap) -> dict[tuple[str, str], Square]:
    return {
        (row, column): square
        for row, squares in table.rows
        for column, square in zip(table.columns, squares, strict=True)
    }


def test_there_are_four_maps_of_forwards() -> None:
    assert [table.title for table in forward_maps(whole())] == [
        "Change with verdict",
        "Time of a forward on head",
        "Microseconds per real token on head",
        "Smallest visible slow-down",
    ]


def test_a_change_has_a_sign_and_a_class_of_its_verdict_and_size() -> None:
    squares = _squares(forward_maps(whole())[0])
    shown = {where: (square.text, square.kind) for where, square in squares.items()}
    assert shown["8", "256"] == ("▲ +5.2%", "worse-1")
    assert shown["8", "512"] == ("▲ +12.0%", "worse-2")
    assert shown["1", "64"] == ("▼ −2.4%", "better-0")
    assert shown["4", "64"] == ("= +0.10%", "unchanged")
    assert shown["2", "64"] == ("? +1.1%", "inconclusive")
    assert shown["2", "128"] == ("✕ failed", "failed")
    assert shown["2", "256"] == ("≠ not comparable", "not-comparable")


def test_hover_tells_the_verdict_in_words_and_what_it_rests_on() -> None:
    squares = _squares(forward_maps(whole())[0])
    assert squares["8", "256"].said == (
        "▲ regressed; +5.2%, interval +4.2% to +6.2%; 10.2 ms → 10.7 ms; visible from +1.3%; "
        "14 pairs"
    )
    assert squares["2", "128"].said == "✕ failed; 0 pairs; head: out of memory"
    assert "unbounded" in squares["2", "512"].said


def test_time_and_what_a_real_token_takes_are_of_head() -> None:
    _, times, tokens, visible = map(_squares, forward_maps(whole()))
    assert times["1", "256"].text == "3.03 ms"
    assert tokens["1", "256"].text == "15.8 µs"
    assert visible["1", "256"].text == "1.30%"


def test_a_shape_without_a_time_is_crossed_or_blank_and_says_why() -> None:
    for table in forward_maps(whole())[1:]:
        squares = _squares(table)
        assert squares["2", "128"].kind == "failed"
        assert (squares["2", "256"].kind, squares["2", "256"].said) == ("skipped", "not known")


def test_no_forwards_no_maps() -> None:
    assert forward_maps(empty()) == plan_maps(empty()) == []


def test_all_failed_are_all_crossed() -> None:
    for table in forward_maps(all_failed()):
        assert {square.kind for square in _squares(table).values()} == {"failed"}


def test_a_void_run_has_no_square_that_looks_like_a_verdict() -> None:
    table = forward_maps(void())[0]
    assert table.legend == "The run is void: no square is a verdict."
    for square in _squares(table).values():
        assert square.kind == "inconclusive"
        assert not set(square.text) & set("▲▼=?≠✕")
        assert square.said.startswith("void; ")


def test_plans_have_a_map_for_each_cost_model() -> None:
    tables = plan_maps(whole())
    assert [table.title.split(",")[1].strip() for table in tables] == [
        "linear cost: change with verdict",
        "ladder cost: change with verdict",
    ]
    assert [name for name, _ in tables[0].rows] == ["short", "decision"]
    assert tables[0].columns == ("8", "32")


def test_tokens_that_are_none_give_no_time_a_token() -> None:
    for tokens in (None, 0, -1):
        document = comparison([cell("forward/1x64", "regressed", 0.1, real_tokens=tokens)])
        assert _squares(forward_maps(document)[2])["1", "64"].kind == "skipped"


def test_a_cell_that_lacks_a_parameter_is_in_no_map() -> None:
    document = comparison([cell("forward/1x64", "regressed", 0.1, parameters={"batch": 1})])
    assert forward_maps(document) == []


def test_labels_too_long_for_a_number_are_kept_as_they_are() -> None:
    parameters = {"batch": "9" * 5000, "length": 64}
    document = comparison([cell("forward/1x64", "regressed", 0.1, parameters=parameters)])
    assert [name for name, _ in forward_maps(document)[0].rows] == ["9" * 5000]


def test_text_can_be_read_on_every_colour() -> None:
    assert min(contrast(ground, text) for ground, text in (*WORSE, *BETTER)) >= 4.5
