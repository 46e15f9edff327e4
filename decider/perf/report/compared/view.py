"""Everything that the page shows of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from decider.perf.comparison.document import Document
from decider.perf.report.charts import Chart
from decider.perf.report.compared.cost_facts import CostFacts, cost_facts
from decider.perf.report.compared.exact import ExactFigures, exact_figures
from decider.perf.report.compared.failures import Failure, failures, unstarted
from decider.perf.report.compared.headline import Headline, headline
from decider.perf.report.compared.lines import lines_chart
from decider.perf.report.compared.maps import forward_maps, plan_maps
from decider.perf.report.compared.plans import ComparedPlans, compared_plans
from decider.perf.report.compared.rows import ComparedRow, compared_rows
from decider.perf.report.compared.summaries import SummaryRow, summary_rows
from decider.perf.report.heat_maps import HeatMap


@dataclass(frozen=True)
class View:
    """A comparison as its sections show it."""

    headline: Headline
    unstarted: list[str]
    forwards: list[HeatMap]
    plans: list[HeatMap]
    exact: ExactFigures
    planned: ComparedPlans
    cost: CostFacts
    lines: Chart | None
    summaries: list[SummaryRow]
    failures: list[Failure]
    failure_count: int
    rows: list[ComparedRow]


def view(document: Document) -> View:
    """What is shown of a comparison that `decider.perf.comparison.document` has checked."""
    shown, count = failures(document)
    return View(
        headline(document),
        unstarted(document),
        forward_maps(document),
        plan_maps(document),
        exact_figures(document),
        compared_plans(document),
        cost_facts(document),
        lines_chart(document),
        summary_rows(document),
        shown,
        count,
        compared_rows(document),
    )
