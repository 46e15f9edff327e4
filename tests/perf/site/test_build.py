"""The whole site: its files, its links, and strangers' values in it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from decider.perf.history.results_reader import read_history
from decider.perf.site.build import Built, build_site
from tests.perf.report.comparisons import cell, comparison
from tests.perf.report.hostile import ATTACKS, EVERYTHING, write_hostile_results
from tests.perf.report.results import benchmark
from tests.perf.site.histories import commit_hash, find_jumps, write_commit, write_history


class Tags(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def _build(results: Path, out: Path, **options: object) -> Built:
    history, problems = read_history(results)
    return build_site(
        history,
        out,
        find=find_jumps,
        render=lambda document: f"<!doctype html><title>{document['profile']}</title>",
        problems=problems,
        **options,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of two machines and a comparison, with links to a repository."""
    folder = tmp_path_factory.mktemp("whole")
    write_history(folder / "results")
    write_history(folder / "results", machine="another", count=6)
    (folder / "comparisons").mkdir()
    document = comparison([cell("forward/8x256", "regressed", 0.03)])
    document["base"]["commit"], document["head"]["commit"] = commit_hash(7), commit_hash(8)
    document["head"]["subject"] = "Make the second forward slower"
    (folder / "comparisons" / "one.json").write_text(json.dumps(document), encoding="utf-8")
    built = _build(
        folder / "results",
        folder / "site",
        comparisons=folder / "comparisons",
        repository_url="https://example.org/decider",
    )
    assert (built.commits, built.benchmarks, built.reports, built.problems) == (12, 4, 1, ())
    return folder / "site"


def test_it_has_a_page_a_benchmark_a_commit_and_a_report(site: Path) -> None:
    found = {
        folder: len(list((site / folder).iterdir()))
        for folder in ("benchmarks", "commits", "reports")
    }
    assert found == {"benchmarks": 4, "commits": 12, "reports": 1}


def test_every_link_is_relative_and_leads_to_a_page_of_the_site(site: Path) -> None:
    seen = 0
    for page in site.rglob("*.html"):
        for tag, attributes in Tags(page.read_text(encoding="utf-8")).tags:
            address = attributes.get("href") or attributes.get("src") or ""
            if not address or address == "data:,":
                continue
            if address.startswith("https://example.org/decider/commit/"):
                assert tag == "a"
                continue
            parts = urlsplit(address)
            assert not any((parts.scheme, parts.netloc, parts.path.startswith("/"))), address
            target = page.parent / unquote(parts.path) if parts.path else page
            assert target.resolve().is_file(), f"{page}: {address}"
            assert site.resolve() in target.resolve().parents
            seen += 1
    assert seen > 100


def test_a_link_to_a_cell_names_a_cell_of_the_page(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    (path, anchor), *_ = re.findall(r'href="(benchmarks/[^"#]*)#([^"]*)"', index)
    assert f'href="#{anchor}"' in (site / path).read_text(encoding="utf-8")


def test_a_commit_tells_its_changes_its_reports_and_what_was_measured(site: Path) -> None:
    page = (site / "commits" / f"{commit_hash(8)}.html").read_text(encoding="utf-8")
    assert "Make the second forward slower" in page
    assert "+20.0%" in page
    assert f'after <a href="../commits/{commit_hash(7)}.html">' in page
    assert f'<a href="https://example.org/decider/commit/{commit_hash(8)}"' in page
    assert "main to feature, quick" in page
    assert "forward.Forward.track_seconds" in page
    assert f'<a href="{commit_hash(7)}.html">older' in page
    quiet = (site / "commits" / f"{commit_hash(3)}.html").read_text(encoding="utf-8")
    assert "No change was first seen at this commit." in quiet


def test_the_charts_program_is_there_once(site: Path) -> None:
    program = (site / "vega.js").read_text(encoding="utf-8")
    assert "vegaEmbed" in program
    for page in site.rglob("*.html"):
        assert len(page.read_bytes()) < 40_000, page


def test_without_a_repository_there_are_no_links_out(tmp_path: Path) -> None:
    write_history(tmp_path / "results", count=2)
    _build(tmp_path / "results", tmp_path / "site")
    assert all(
        "https://" not in page.read_text(encoding="utf-8").replace("https://vega.github.io", "")
        for page in (tmp_path / "site").rglob("*.html")
    )


def test_a_failure_on_the_way_leaves_the_old_site(tmp_path: Path) -> None:
    write_history(tmp_path / "results", count=2)
    _build(tmp_path / "results", tmp_path / "site")
    before = {file: file.read_bytes() for file in (tmp_path / "site").rglob("*.html")}
    (tmp_path / "comparisons").mkdir()
    document = comparison([])
    (tmp_path / "comparisons" / "one.json").write_text(json.dumps(document), encoding="utf-8")
    history, _ = read_history(tmp_path / "results")

    def failing(_: object) -> str:
        raise ValueError("cannot be rendered")

    with pytest.raises(ValueError, match="cannot be rendered"):
        build_site(
            history,
            tmp_path / "site",
            find=find_jumps,
            render=failing,
            comparisons=tmp_path / "comparisons",
        )
    assert before == {file: file.read_bytes() for file in (tmp_path / "site").rglob("*.html")}


def test_problems_are_on_the_first_page(tmp_path: Path) -> None:
    write_history(tmp_path / "results", count=2)
    (tmp_path / "results" / "odd").mkdir()
    (tmp_path / "results" / "odd" / "<b>.json").write_text("{", encoding="utf-8")
    built = _build(tmp_path / "results", tmp_path / "site")
    assert len(built.problems) == 1
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;.json: no asv result" in index


def test_results_without_a_benchmark_are_a_site_too(tmp_path: Path) -> None:
    write_commit(tmp_path / "results", 0, {})
    assert _build(tmp_path / "results", tmp_path / "site").benchmarks == 0
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "The results hold no benchmark." in index


def test_half_a_character_in_a_name_does_not_stop_the_site(tmp_path: Path) -> None:
    half = "\ud800 half"
    content = {half: benchmark({half: [1]}, [1.0], half)}
    path = write_commit(tmp_path / "results", 0, content, machine="HERE", torch=half)
    path.write_text(path.read_text("utf-8").replace('"HERE"', json.dumps(half)), encoding="utf-8")
    assert _build(tmp_path / "results", tmp_path / "site").benchmarks == 1
    assert "? half" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def write_hostile_site(folder: Path) -> Path:
    """A site with an attack in every field that comes from outside."""
    write_hostile_results(folder / "results")
    (folder / "comparisons").mkdir()
    document = comparison([], machine=EVERYTHING, profile=EVERYTHING)
    for side in ("base", "head"):
        document[side] |= {"name": EVERYTHING, "subject": EVERYTHING}
    document["outcome"]["sentence"] = EVERYTHING
    name = "".join(attack.replace("/", "").replace("\0", "") for attack in ATTACKS)[:60]
    (folder / "comparisons" / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    _build(folder / "results", folder / "site", comparisons=folder / "comparisons")
    return folder / "site"


def test_strangers_values_add_no_tag_no_attribute_and_no_file(tmp_path: Path, site: Path) -> None:
    hostile = write_hostile_site(tmp_path)
    usual = {
        (tag, name)
        for page in site.rglob("*.html")
        for tag, attributes in Tags(page.read_text(encoding="utf-8")).tags
        for name in (None, *attributes)
    }
    for page in hostile.rglob("*"):
        assert re.fullmatch(r"[a-z0-9._-]+", page.name)
        if page.suffix != ".html" or page.parent.name == "reports":
            continue
        for tag, attributes in Tags(page.read_text(encoding="utf-8")).tags:
            assert {(tag, name) for name in (None, *attributes)} <= usual, page
            assert not str(attributes.get("href", "")).startswith("javascript")
    assert len(list(hostile.parent.iterdir())) == 3, "nothing was written beside the site"
