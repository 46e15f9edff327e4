"""The program of the diagrams comes from vl-convert, by way of another process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from decider.perf.report import vega


@pytest.fixture
def anew() -> Iterator[None]:
    """Nothing is bundled yet, and what this test bundles is forgotten."""
    vega.vega_program()  # so that no process of other tests is forgotten while it runs
    _forget()
    yield
    _forget()


def _forget() -> None:
    vega.vega_program.cache_clear()
    vega._bundling.cache_clear()


def test_it_is_what_vl_convert_bundles_whatever_stands_in_the_working_folder(
    anew: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import vl_convert

    (tmp_path / "vl_convert.py").write_text("raise SystemExit('a stranger')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    vega.begin()
    wanted = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    assert vega.vega_program() == wanted


def test_a_failure_is_told_in_the_words_of_the_process(
    anew: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vega, "BUNDLE", "raise SystemExit('no memory left')")
    with pytest.raises(ValueError, match="could not be bundled: no memory left"):
        vega.vega_program()
