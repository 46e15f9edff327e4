"""Strangers' text in Markdown."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from decider.perf.report.markdown import CUT, EMPTY, check_address, code, link, plain, text
from tests.perf.report.hostile import ATTACKS, MARKDOWN_ATTACKS

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
STRANGE = st.text() | st.sampled_from(MARKDOWN_ATTACKS + ATTACKS)


@pytest.mark.parametrize(
    "harmless",
    [
        "2 of 24 cells regressed, the worst forward/8x256 by +5.2% (4.00 µs → 4.21 µs).",
        "head's overhead: 512 ± 40",
        "B·T ≥ 100",
    ],
)
def test_harmless_text_stands_bare(harmless: str) -> None:
    assert text(harmless) == harmless


@pytest.mark.parametrize(
    "meaning",
    [
        *("@octocat", "#123", "GH-12", "deadbeef", "1a2b3c4d5e6f", "www.evil", "a//b:c", "a_b"),
        *("<b>", "&lt;", "*x*", "[x]", "a|b", ":tada:", "http://x", "\\", "~~x~~", "$x$", "!x"),
    ],
)
def test_what_could_mean_anything_stands_in_code(meaning: str) -> None:
    assert text(meaning) == code(meaning)
    assert text(meaning).startswith("`")


def test_backticks_and_bars_cannot_end_a_span_or_a_cell() -> None:
    assert code("a`b``c|d") == "`a'b''c¦d`"


def test_control_and_invisible_characters_are_shown_as_replaced() -> None:
    assert plain("a\u202eb\u200bc\x1bd\ud800") == "a\ufffdb\ufffdc\ufffdd\ufffd"


def test_lines_become_one_and_long_ones_are_cut() -> None:
    assert plain(" a\r\n\n b\u2028c\t") == "a b c"
    assert plain("x" * 200, 10) == "x" * 9 + CUT
    assert len(plain("é" * 10**6, 50)) == 50


def test_nothing_is_said_to_be_empty() -> None:
    assert text("") == text(" \n") == code("") == EMPTY


@given(STRANGE)
@example("`")
@example("\\")
@example("a\\`")
def test_whatever_it_is_it_stays_one_text_of_one_cell(value: str) -> None:
    for shown in (text(value), code(value)):
        assert "\n" not in shown
        assert not [c for c in shown if unicodedata.category(c)[0] == "C"]
        row, inner = RENDERER.parse(f"| a | b |\n| --- | --- |\n| x {shown} | y |"), []
        for token in row:
            inner += token.children or []
        assert [t.type for t in row].count("td_open") == 2
        assert {t.type for t in inner} <= {"text", "code_inline"}
        assert inner[-1].content == "y"


@given(STRANGE)
def test_bare_text_holds_nothing_that_github_links(value: str) -> None:
    shown = text(value)
    if not shown.startswith("`"):
        assert not set(shown) & set("@#<>[]_*~`|\\&!:/".replace("/", "").replace(":", ""))
        assert "://" not in shown
        assert "www." not in shown.lower()


@pytest.mark.parametrize(
    "address", ["https://example.org", "https://a.b:8443/x/y.html?z=1&w=%20#part"]
)
def test_an_address_that_can_be_linked_to(address: str) -> None:
    (paragraph,) = [t for t in RENDERER.parse(link("Report", check_address(address))) if t.children]
    opened = (paragraph.children or [])[0]
    assert (opened.type, opened.attrs["href"]) == ("link_open", address)


@pytest.mark.parametrize(
    "address",
    [
        *("", "http://example.org", "javascript:alert(1)", "https://a b", "https://a/>x", "//a/b"),
        *("https://a/(b)", "https://u@a/b", "https://a\n", "https://a/`", "https://ä.org"),
    ],
)
def test_an_address_that_cannot_is_named(address: str) -> None:
    with pytest.raises(ValueError, match="give one that begins with https://") as caught:
        check_address(address)
    assert repr(address) in str(caught.value)
