"""One line a benchmark, and one for the whole suite."""

from __future__ import annotations

from dataclasses import dataclass

from decider.perf.comparison.document import VERDICTS, Document
from decider.perf.report.compared.words import SIGNS, signed


@dataclass(frozen=True)
class SummaryRow:
    """Texts of a line: what, cells, counts by verdict, the means, what they weigh, the worst."""

    name: str
    cells: str
    counts: str
    geometric_mean: str
    weighted_mean: str
    weights: str
    worst: str


def summary_rows(document: Document) -> list[SummaryRow]:
    """The summaries of the comparison in the order of the document."""
    changes = {cell["id"]: signed(cell["change"]) for cell in document["cells"]}
    return [
        SummaryRow(
            summary["benchmark"] or "whole suite",
            f"{summary['cells']:,}",
            ", ".join(
                f"{SIGNS[verdict]} {summary['counts'][verdict]:,} {verdict}"
                for verdict in VERDICTS
                if summary["counts"][verdict]
            ),
            signed(summary["geometric_mean"]) or "none",
            signed(summary["weighted_mean"]) or "none",
            summary["weights"] or "",
            f"{summary['worst']} {changes.get(summary['worst'], '')}".rstrip()
            if summary["worst"]
            else "",
        )
        for summary in document["summaries"]
    ]
