"""Names of files and links made from strangers' texts."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from decider.perf.site.names import SLUG_LENGTH, fingerprint, page_name
from tests.perf.report.hostile import ATTACKS

texts = st.text() | st.sampled_from([*ATTACKS, "../../etc/passwd", "CON", ".", "a/b\\c", "\ud800"])


@given(st.lists(texts, min_size=1, max_size=3))
def test_a_page_name_is_one_plain_file_name(parts: list[str]) -> None:
    name = page_name(*parts)
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*-[0-9a-f]{10}\.html|_[a-z0-9_-]*\.html", name)
    assert len(name) <= SLUG_LENGTH + 16


@given(st.lists(texts, max_size=3), st.lists(texts, max_size=3))
def test_different_texts_have_different_names(first: list[str], second: list[str]) -> None:
    assert (page_name(*first) == page_name(*second)) == (first == second)


def test_names_differ_where_letters_and_borders_do_not() -> None:
    assert page_name("Bench") != page_name("bench")
    assert fingerprint("a b", "c") != fingerprint("a", "b c")
    assert fingerprint("1:a", "b") != fingerprint("1:a1:b")


def test_a_name_is_the_same_in_every_run() -> None:
    name = page_name("shared-2core", "forward.Forward.track_seconds")
    assert name == "shared-2core-forward-forward-track_seconds-bd8ad0af45.html"
