"""The diagram of one cell over commits: its specification, which is the same for every cell.

The page's script puts the chosen cell's records into the two named data sets; nothing of them is
ever part of an expression.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from decider.perf.report.charts import COLOURS, CONFIG

POINTS = "points"
"""Data set of records: number, value, environment, stretch, commit, date, text."""
CHANGES = "changes"
"""Data set of records: number, what."""


def history_chart(environments: int) -> dict[str, Any]:
    """The specification; values stand upright, the commits' numbers from the oldest on.

    Args:
        environments: how many there are; their numbers from 1 on are the records' `environment`.
    """
    # One domain for both, or Vega-Lite draws a legend for each of them.
    numbers = [str(number + 1) for number in range(environments)]
    legend = {"title": "environment"} if environments > 1 else {"legend": None}
    x = alt.X("number:Q", title="commit, the oldest is 1").scale(nice=False, zero=False)
    x = x.axis(format="d", tickMinStep=1, grid=False)
    lines = (
        alt.Chart(alt.NamedData(POINTS))
        .mark_line(strokeWidth=1.5, point=alt.OverlayMarkDef(size=30, filled=True))
        .encode(
            x,
            alt.Y("value:Q", title=None).scale(zero=False),
            alt.Color("environment:N", **legend).scale(domain=numbers),
            alt.Shape("environment:N", **legend).scale(domain=numbers),
            alt.Detail("stretch:N"),
            tooltip=["commit:N", "date:N", "text:N", "environment:N"],
        )
    )
    marked = alt.Chart(alt.NamedData(CHANGES)).encode(alt.X("number:Q"))
    rule = marked.mark_rule(strokeDash=[5, 4], stroke="gray", strokeWidth=1.5)
    said = marked.mark_text(
        align="left", baseline="top", dx=3, y=0, angle=0, fontSize=11, color="currentColor"
    ).encode(alt.Text("what:N"))
    chart = alt.layer(rule, lines, said).properties(width="container", height=300)
    return {**chart.to_dict(), "config": {**CONFIG, "range": {"category": list(COLOURS)}}}
