"""The page: one HTML file that asks nobody for anything.

Everything that comes from results is a stranger's text: Jinja2 escapes it in the markup, and what
the script reads stands as JSON in which `<` cannot occur. The content security policy lets run
only the two scripts whose hashes it names, and lets nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from decider.perf.comparison.document import Document
from decider.perf.report.cell_rows import cell_rows
from decider.perf.report.charts import Chart
from decider.perf.report.compared.maps import BETTER, WORSE
from decider.perf.report.compared.rows import HEADERS
from decider.perf.report.compared.view import view
from decider.perf.report.compared.words import is_void
from decider.perf.report.cost_line import cost_line
from decider.perf.report.differences import differences
from decider.perf.report.end_to_end import NOT_COMPARED, EndToEnd, end_to_end
from decider.perf.report.figures import plan_figures, planning_charts
from decider.perf.report.forwards import SECONDS, forwards_of_grid_file, forwards_of_result
from decider.perf.report.heat_maps import SHADES
from decider.perf.report.history import history
from decider.perf.report.quantities import exact
from decider.perf.report.repository import commit_address
from decider.perf.report.result_file import Result
from decider.perf.report.summary import summary
from decider.perf.report.vega import begin, vega_program
from decider.version import __version__

FOOTPRINT = "footprint."


class Section(NamedTuple):
    """A part of the page: its identifier there, its title in the navigation, its template."""

    identifier: str
    title: str
    template: str


COMPARED_SECTIONS = (
    Section("changed-forwards", "Forwards: head beside base", "verdict_forwards.html"),
    Section("exact", "Exact figures", "verdict_exact.html"),
    Section("cost-models", "Cost model on both sides", "verdict_cost.html"),
    Section("summaries", "Summaries", "verdict_summaries.html"),
    Section("failures", "Failures", "verdict_failures.html"),
    Section("compared-cells-title", "All compared cells", "verdict_cells.html"),
)
RUN = Section("run", "What asv measured at head", "run_section.html")
DIFFERENCES = Section("differences", "Differences", "differences.html")
END_TO_END = Section("end-to-end", "End to end", "end_to_end.html")
HISTORY = Section("history", "History", "history.html")
RESULT_SECTIONS = (
    Section("forwards", "Forwards", "forwards.html"),
    Section("plans", "Plans", "plans.html"),
    Section("cost", "Cost model", "cost.html"),
    END_TO_END,
    Section("planner", "Planner", "planner.html"),
    Section("footprint", "Footprint", "footprint.html"),
    Section("cells", "All cells", "cells.html"),
)


@dataclass
class _Charts:
    """The page's diagrams in the order in which the template shows them."""

    specifications: list[Any]

    def add(self, chart: Chart) -> str:
        """Keep a diagram for the script; its identifier in the page."""
        self.specifications.append(chart.specification)
        return f"chart-{len(self.specifications) - 1}"


def render(
    result: Result | None = None,
    baseline: Result | None = None,
    grid_file: Path | None = None,
    problems: Sequence[str] = (),
    *,
    comparison: Document | None = None,
    results: Sequence[Result] = (),
    repository_url: str | None = None,
) -> str:
    """The page of a comparison, of a result of asv, or of both.

    Args:
        result: what asv measured.
        baseline: the other side, to show plain differences from.
        grid_file: measured forwards to show besides, and to fit the cost model to.
        problems: what could not be read on the way, a sentence each.
        comparison: a checked comparison of two commits; its verdicts come first.
        results: what the history is drawn from; those of other machines are left out.
        repository_url: checked address of the repository's pages, to link commits to.

    Raises:
        ValueError: there is neither comparison nor result, the baseline is the result itself, the
            grid file is malformed, or the diagrams' program cannot be bundled.
        OSError: the grid file cannot be read.
    """
    if result is None and comparison is None:
        raise ValueError("neither a comparison nor a result of asv: there is nothing to show")
    begin()  # where the caller has not done so before it read files
    sections, context = _content(result, baseline, grid_file, results, comparison)
    bundle, script = _inline(vega_program()), _script()
    return (
        _environment()
        .get_template("page.html")
        .render(
            **context,
            title=_title(result, comparison),
            sources=_sources(result, comparison),
            sections=sections,
            problems=problems,
            charts=_Charts([]),
            shades=SHADES,
            worse=WORSE,
            better=BETTER,
            bundle=bundle,
            script=script,
            repository_url=repository_url,
            policy=_policy(bundle, script),
            version=__version__,
        )
    )


def render_comparison(document: Document, repository_url: str | None = None) -> str:
    """The page of a checked comparison alone; raises as `render` does."""
    return render(comparison=document, repository_url=repository_url)


def _content(
    result: Result | None,
    baseline: Result | None,
    grid_file: Path | None,
    results: Sequence[Result],
    comparison: Document | None,
) -> tuple[list[Section], dict[str, Any]]:
    """The sections in their order, and what their templates want, by the names that they use."""
    sections: list[Section] = []
    context: dict[str, Any] = {"verdicts": None, "result": None, "compared": None}
    if comparison is not None:
        sections += COMPARED_SECTIONS
        context |= {"verdicts": view(comparison), "verdict_headers": HEADERS}
    if result is not None:
        shown = _of_result(result, baseline, grid_file, results)
        context |= shown
        sections += [RUN] * (comparison is not None)
        sections += [DIFFERENCES] * (shown["compared"] is not None)
        sections += RESULT_SECTIONS
        if results:
            sections.insert(sections.index(END_TO_END) + 1, HISTORY)
    else:
        sections.append(END_TO_END)
        context |= {"end_to_end": EndToEnd(note=NOT_COMPARED)}
    return sections, context


def _of_result(
    result: Result,
    baseline: Result | None,
    grid_file: Path | None,
    results: Sequence[Result],
) -> dict[str, Any]:
    """What the templates of a result want, by the names that they use."""
    compared = differences(result, baseline) if baseline else None
    forwards = [forwards_of_result(result)]
    if grid_file:
        forwards.append(forwards_of_grid_file(grid_file))
    has_forwards = any(cell.status == "measured" for cell in result.cells_of(SECONDS))
    footprint = [cell for cell in result.cells if cell.benchmark.startswith(FOOTPRINT)]
    return {
        "summary": summary(result, baseline, grid_file),
        "result": result,
        "compared": compared,
        "exact": exact,
        "forwards": forwards,
        "line": cost_line(grid_file or result.path) if grid_file or has_forwards else None,
        "line_source": grid_file.name if grid_file else "asv's forwards",
        "plans": plan_figures(result),
        "planning": planning_charts(result),
        "end_to_end": end_to_end(result, baseline),
        "history": history(results, result) if results else None,
        "footprint": cell_rows(footprint, compared),
        "rows": cell_rows(result.cells, compared),
    }


def _title(result: Result | None, comparison: Document | None) -> str:
    if comparison is not None:
        base, head = (comparison[side]["commit"][:8] for side in ("base", "head"))
        outcome = "void" if is_void(comparison) else comparison["outcome"]["name"]
        return f"{outcome}: {base} to {head} on {comparison['machine']}"
    return f"{result.commit[:8]} on {result.machine}" if result else ""


def _sources(result: Result | None, comparison: Document | None) -> str:
    sources = ["a comparison"] * (comparison is not None) + ["asv's results"] * (result is not None)
    return " and ".join(sources)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("decider.perf.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["commit_address"] = commit_address
    return made


@cache
def _script() -> Markup:
    folder = resources.files("decider.perf.report") / "templates"
    return _inline((folder / "page.js").read_text(encoding="utf-8"))


def _inline(source: str) -> Markup:
    """A script as it stands between its tags; it must not end them."""
    for ending in ("</script", "<!--"):
        if ending in source.lower():
            raise ValueError(f"a script that holds {ending!r} cannot stand in the page")
    return Markup(source)  # noqa: S704 (no value from outside is in it)


def _policy(*scripts: str) -> str:
    hashes = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes)
    # Vega sets styles of its tooltip; styles cannot fetch anything under the first rule.
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
