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
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from decider.perf.report import heat_maps
from decider.perf.report.cell_rows import cell_rows
from decider.perf.report.charts import Chart
from decider.perf.report.cost_line import cost_line
from decider.perf.report.differences import differences
from decider.perf.report.figures import plan_figures, planning_charts
from decider.perf.report.forwards import SECONDS, forwards_of_grid_file, forwards_of_result
from decider.perf.report.quantities import exact
from decider.perf.report.result_file import Result
from decider.perf.report.summary import summary
from decider.version import __version__

FOOTPRINT = "footprint."


@dataclass
class _Charts:
    """The page's diagrams in the order in which the template shows them."""

    specifications: list[Any]

    def add(self, chart: Chart) -> str:
        """Keep a diagram for the script; its identifier in the page."""
        self.specifications.append(chart.specification)
        return f"chart-{len(self.specifications) - 1}"


def render(
    result: Result,
    baseline: Result | None = None,
    grid_file: Path | None = None,
    problems: Sequence[str] = (),
) -> str:
    """The page of `result`.

    Args:
        result: what was measured.
        baseline: the other side, to show plain differences from.
        grid_file: measured forwards to show besides, and to fit the cost model to.
        problems: what could not be read on the way, a sentence each.

    Raises:
        ValueError: the baseline is the result itself, or the grid file is malformed.
        OSError: the grid file cannot be read.
    """
    compared = differences(result, baseline) if baseline else None
    forwards = [forwards_of_result(result)]
    if grid_file:
        forwards.append(forwards_of_grid_file(grid_file))
    has_forwards = any(cell.status == "measured" for cell in result.cells_of(SECONDS))
    footprint = [cell for cell in result.cells if cell.benchmark.startswith(FOOTPRINT)]
    charts = _Charts([])
    bundle, script = _bundle(), _script()
    return (
        _environment()
        .get_template("page.html")
        .render(
            summary=summary(result, baseline, grid_file),
            result=result,
            compared=compared,
            exact=exact,
            problems=problems,
            forwards=forwards,
            line=cost_line(grid_file or result.path) if grid_file or has_forwards else None,
            line_source=grid_file.name if grid_file else "asv's forwards",
            plans=plan_figures(result),
            planning=planning_charts(result),
            footprint=cell_rows(footprint, compared),
            rows=cell_rows(result.cells, compared),
            charts=charts,
            shades=heat_maps.SHADES,
            bundle=bundle,
            script=script,
            policy=_policy(bundle, script),
            version=__version__,
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("decider.perf.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _bundle() -> Markup:
    """Vega, Vega-Lite and Vega-Embed as one script, from the installed vl-convert."""
    return _inline(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


@cache
def _script() -> Markup:
    folder = resources.files("decider.perf.report") / "templates"
    return _inline((folder / "page.js").read_text(encoding="utf-8"))


def _inline(source: str) -> Markup:
    """A script of ours as it stands between its tags; it must not end them."""
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
