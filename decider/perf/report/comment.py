"""The comment on a pull request: a comparison in Markdown, always short enough for GitHub.

Everything from the document is a stranger's text and passes `markdown`. The first lines say what
matters; the rest is folded, and what does not fit is cut with a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from decider.perf.comparison.document import Document
from decider.perf.report.compared.cost_facts import cost_facts
from decider.perf.report.compared.exact import Line, exact_figures
from decider.perf.report.compared.failures import failures, unstarted
from decider.perf.report.compared.headline import Headline, headline
from decider.perf.report.compared.summaries import summary_rows
from decider.perf.report.compared.words import (
    Cell,
    interval_of,
    is_void,
    signed,
    value,
    verdict_word,
    worst_first,
)
from decider.perf.report.markdown import check_address, code, link, plain, text
from decider.perf.report.quantities import counted
from decider.perf.report.text_map import text_map

MOST_BYTES = 65_000
"""Below GitHub's limit of 65,536 characters; in bytes, so that no way of counting exceeds it."""

MOST_ROWS = 12
MOST_LINES = 200
"""Lines of a folded table; the report has them all."""

_CELL_HEADERS = ("cell", "verdict", "change", "interval", "base", "head", "visible from", "pairs")
_MARKS = {"regression": "▲", "nothing worse": "=", "undecided": "?", "not comparable": "≠"}


@dataclass(frozen=True)
class _Block:
    """Lines that are left out from the end where there is no room for all."""

    title: str
    before: tuple[str, ...]
    lines: tuple[str, ...]
    after: tuple[str, ...] = ()
    total: int = 0


def comment(document: Document, report_address: str | None = None) -> str:
    """The comment on the comparison in a checked document.

    Args:
        document: the comparison.
        report_address: where the report is, to link to it.

    Raises:
        ValueError: the address is none to link to.
    """
    found = headline(document)
    cells = worst_first(document)
    top = [cell for cell in cells if cell["verdict"] != "unchanged"][:MOST_ROWS]
    text_so_far = "\n".join(_top(document, found, top, len(cells)))
    footer = "\n" + "\n".join(_footer(found, report_address))
    room = MOST_BYTES - _bytes(text_so_far) - _bytes(footer)
    for block in _blocks(document, found, cells):
        drawn = _fitted(block, room)
        text_so_far += drawn
        room -= _bytes(drawn)
    return text_so_far + footer


def _top(document: Document, found: Headline, top: Sequence[Cell], cells: int) -> Iterator[str]:
    base, head = found.sides
    yield f"### {_MARKS.get(found.kind, '✕')} {text(found.line, 400)}"
    yield ""
    if found.void is not None:
        yield f"**Void: no verdict below counts.** Why: {text(found.void, 300)}"
        yield ""
    counts = [f"{sign} {count:,} {verdict}" for sign, verdict, count in found.counts if count]
    listed = f": {', '.join(counts)}" if counts and found.void is None else ""
    yield (
        f"{code(base.name, 60)} {code(base.commit[:8])} → {code(head.name, 60)} "
        f"{code(head.commit[:8])} on {text(document['machine'], 60)}. "
        f"{counted(cells, 'cell')}{listed}."
    )
    for side in unstarted(document):
        yield f"**No process of {side} ever started.**"
    for name, before, now in found.differs[:4]:
        yield f"**Differs:** {text(name, 40)}: {text(before, 40)} → {text(now, 40)}."
    if len(found.differs) > 4:
        yield f"And {len(found.differs) - 4:,} more things differ."
    yield ""
    if top:
        yield from _table(_CELL_HEADERS, [_cell_line(cell, document) for cell in top])
        yield ""
    if (drawn := text_map(document)) is not None:
        yield f"Change of forwards, {drawn.legend}:"
        yield from ("", "```text", *drawn.lines, "```", "")
    yield exact_figures(document).sentence
    yield from ("", "")


def _footer(found: Headline, report_address: str | None) -> Iterator[str]:
    if report_address:
        yield link("Full report", check_address(report_address))
        yield ""
    source = f" It was of {code(found.self_test.source, 200)}." if found.self_test.source else ""
    yield f"{found.self_test.sentence}{source}"
    yield ""
    yield "Compared again by:"
    yield ""
    for command in found.commands:
        yield f"    {plain(command, 400)}"
    yield ""


def _blocks(document: Document, found: Headline, cells: Sequence[Cell]) -> Iterator[_Block]:
    exact = exact_figures(document)
    for title, lines in (("Exact figures that changed", exact.changes), ("Sums", exact.totals)):
        if lines:
            headers = ("figure", "queue", "base", "head", "difference")
            yield _folded(title, headers, _exact(lines), len(lines))
    if exact.notes:
        yield _list("Notes on exact figures", [text(note, 400) for note in exact.notes])
    shown, count = failures(document)
    if shown:
        headers = ("side", "cell", "kind", "pairs", "message")
        struck = [
            (f.arm, text(f.where), f.kind, f"{f.pairs:,}", code(f.message, 300)) for f in shown
        ]
        yield _folded("Failures", headers, struck, count)
    if summaries := summary_rows(document):
        headers = ("benchmark", "cells", "geometric mean", "weighted by traffic", "worst cell")
        rows = [
            (text(s.name), s.cells, s.geometric_mean, s.weighted_mean, text(s.worst))
            for s in summaries
        ]
        yield _folded("Summaries", headers, rows)
    cost = cost_facts(document)
    yield _list("Cost model", (*cost.facts, *(text(note, 400) for note in cost.notes)))
    facts = [f"{text(name, 60)}: {text(fact, 200)}" for name, fact in found.facts]
    yield _list("Machine and pairs", facts)
    if cells:
        every = [_cell_line(cell, document) for cell in cells[:MOST_LINES]]
        yield _folded("All cells", _CELL_HEADERS, every, len(cells))


def _exact(lines: Sequence[Line]) -> list[Sequence[str]]:
    return [tuple(text(part) for part in line) for line in lines[:MOST_LINES]]


def _cell_line(cell: Cell, document: Document) -> Sequence[str]:
    word = verdict_word(cell, void=is_void(document))
    reason = f" {code(cell['reason'], 100)}" if cell["reason"] else ""
    return (
        code(cell["id"], 60),
        word + reason,
        signed(cell["change"]),
        interval_of(cell),
        value(cell, "base"),
        value(cell, "head"),
        signed(cell["smallest_visible"]),
        f"{cell['pairs']:,}",
    )


def _folded(
    title: str, headers: Sequence[str], lines: Sequence[Sequence[str]], total: int = 0
) -> _Block:
    head, rule, *rows = _table(headers, lines[:MOST_LINES])
    return _block(title, (head, rule), rows, max(total, len(lines)))


def _list(title: str, sentences: Sequence[str]) -> _Block:
    """A folded list of sentences that are Markdown already."""
    lines = [f"- {sentence}" for sentence in sentences[:MOST_LINES]]
    return _block(title, (), lines, len(sentences))


def _block(title: str, before: Sequence[str], lines: Sequence[str], total: int) -> _Block:
    opening = (f"<details><summary>{title}</summary>", "", *before)
    return _Block(title, opening, tuple(lines), ("", "</details>", ""), total)


def _table(headers: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    rows = [headers, ["---"] * len(headers), *lines]
    return [f"| {' | '.join(row)} |" for row in rows]


def _fitted(block: _Block, room: int) -> str:
    """The block with as many of its lines as there is room for, and a note where some are cut."""
    note = "{:,} more are in the report."
    used = _bytes("\n".join((*block.before, *block.after))) + len(note) + 20
    lines: list[str] = []
    for line in block.lines:
        used += _bytes(line) + 1
        if used > room:
            break
        lines.append(line)
    if not lines:
        left_out = f"{block.title}: no room here, see the report.\n\n"
        return left_out if block.lines and _bytes(left_out) <= room else ""
    cut = block.total - len(lines)
    end = ("", note.format(cut)) if cut > 0 else ()
    return "\n".join((*block.before, *lines, *end, *block.after)) + "\n"


def _bytes(written: str) -> int:
    return len(written.encode())
