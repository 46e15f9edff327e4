from __future__ import annotations

from pathlib import Path

import pytest

from decider.grid import CPU_GRID, BucketGrid
from decider.serve.settings import markdown_table, read_settings, table, variable

PAGE = Path(__file__).resolve().parents[2] / "docs" / "SERVING.md"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for line in table():
        monkeypatch.delenv(line.variable, raising=False)


def test_the_page_has_the_table() -> None:
    assert markdown_table() in PAGE.read_text(encoding="utf-8")


def test_an_argument_wins_over_the_environment_and_that_over_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert read_settings().max_batch == 32
    monkeypatch.setenv("DECIDER_MAX_BATCH", "8")
    assert read_settings(max_batch=None).max_batch == 8
    assert read_settings(max_batch="4").max_batch == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DECIDER_MAX_BATCH", "many"),
        ("DECIDER_MAX_BATCH", "0"),
        ("DECIDER_MAX_BATCH", ""),
        ("DECIDER_PORT", "70000"),
        ("DECIDER_HOST", " "),
        ("DECIDER_BATCH_WAIT_MS", "nan"),
        ("DECIDER_MERGE_OVERHEAD_TOKENS", "-1"),
        ("DECIDER_MERGE_OVERHEAD_TOKENS", "inf"),
        ("DECIDER_FORWARD_TIMEOUT_S", "0"),
        ("DECIDER_T_BUCKETS", "64 32"),
        ("DECIDER_B_BUCKETS", "1, two"),
        ("DECIDER_GRAPH_TOKEN_BUDGET", "1.5"),
    ],
)
def test_a_bad_value_is_refused_by_its_variable_s_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=name) as caught:
        read_settings()
    assert not value.strip() or value in str(caught.value)


def test_every_bad_value_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECIDER_PORT", "x")
    monkeypatch.setenv("DECIDER_MAX_ROWS", "y")
    with pytest.raises(ValueError, match=r"DECIDER_PORT='x'.*\n.*DECIDER_MAX_ROWS='y'"):
        read_settings()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"max_rows": 10, "max_queue_rows": 9}, "DECIDER_MAX_ROWS=10 is above DECIDER_MAX_QUEUE"),
        (
            {"max_row_tokens": 10, "max_request_tokens": 9},
            "DECIDER_MAX_ROW_TOKENS=10 is above DECIDER_MAX_REQUEST_TOKENS=9",
        ),
    ],
)
def test_limits_that_contradict_each_other_are_refused(
    given: dict[str, int], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        read_settings(**given)


def test_a_misspelt_variable_is_found_and_a_strange_one_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DECIDER_COMMIT", "abc")  # another part's
    read_settings()
    monkeypatch.setenv("DECIDER_MAX_BACH", "8")
    with pytest.raises(ValueError, match=r"DECIDER_MAX_BACH: .* did you mean DECIDER_MAX_BATCH"):
        read_settings()


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ValueError, match="no such setting: colour"):
        read_settings(colour="red")


def test_the_grid_is_the_default_with_what_is_set() -> None:
    assert read_settings().grid(CPU_GRID) == CPU_GRID
    grid = read_settings(t_buckets="32,64", graph_token_budget=100).grid(CPU_GRID)
    assert grid == BucketGrid((32, 64), CPU_GRID.batch_buckets, 100)


def test_the_table_names_every_variable_once() -> None:
    names = [line.variable for line in table()]
    assert len(set(names)) == len(names)
    assert all(line.meaning.endswith(".") and line.default for line in table())
    assert variable("max_batch") in names
