"""One comparison from its commits to its document, kept after every pair.

Puts the parts together for `decider compare` and for its self-test. Knows files; prints nothing.
"""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decider.perf.comparison.assembly import Subject, assemble, pair_of_document
from decider.perf.comparison.document import read_comparison, write_partial
from decider.perf.comparison.pair import DEFAULT_LIMITS, SIDES, Limits, Side
from decider.perf.comparison.run import Progress, Run
from decider.perf.comparison.workshop import SELF_TESTS, Workshop, newest_self_test
from decider.perf.verdict import Design

MACHINE_VARIABLE = "DECIDER_MACHINE"
"""Names the machine where its host name says nothing, as in containers."""


@dataclass(frozen=True)
class Plan:
    """What a comparison is to do, fixed before its first pair.

    Attributes:
        command: what reproduces it.
        budget_seconds: infinite for none.
        cpus: what both arms are pinned to.
    """

    command: str
    design: Design
    budget_seconds: float
    limits: Limits = DEFAULT_LIMITS
    cpus: Sequence[int] = ()


def compare(
    workshop: Workshop,
    plan: Plan,
    *,
    partial: Path | None = None,
    resume: bool = False,
    exact: Mapping[Side, Mapping[str, Any]] | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Make a comparison and return its document.

    Args:
        workshop: starts the arms.
        plan: levels, budget and limits.
        partial: where what has been measured is kept after every pair; removed by the caller.
        resume: whether to go on from `partial`.
        exact: the exact figures, where they are known already.
        progress: called as pairs proceed.
        say: called with what a person should know at once: an arm's failure.

    Raises:
        ValueError: a commit cannot be measured, or `partial` is of another comparison or machine.
        OSError: `partial` cannot be written.
    """
    earlier = _earlier(partial, workshop, plan) if resume and partial else None
    workshop.prepare()
    if exact is None:
        exact = {side: workshop.exact_figures(side) for side in SIDES}
    subject = Subject(
        workshop.base,
        workshop.head,
        workshop.profile,
        plan.command,
        machine_name(),
        exact,
        plan.budget_seconds if math.isfinite(plan.budget_seconds) else None,
        newest_self_test(workshop.repository / SELF_TESTS, machine_name()),
    )
    run = Run(
        workshop.start,
        plan.design,
        plan.limits,
        plan.cpus,
        plan.budget_seconds,
        progress=progress,
    )
    if earlier:
        _take_up(run, earlier)

    def after_pair() -> None:
        for failure in run.pairs[-1].failures:
            where = f"in {failure.cell}" if failure.cell else "while it started"
            say(f"pair {len(run.pairs)}: {failure.arm} {where}: {failure.kind}: {failure.message}")
        if partial:
            write_partial(partial, assemble(run, subject))

    run.go(after_pair)
    return assemble(run, subject)


def machine_name() -> str:
    """What this machine is called in results."""
    return os.environ.get(MACHINE_VARIABLE) or platform.node() or "unnamed"


def _earlier(partial: Path, workshop: Workshop, plan: Plan) -> dict[str, Any]:
    document = read_comparison(partial)
    wanted = {
        "base": workshop.base.hash,
        "head": workshop.head.hash,
        "profile": workshop.profile,
        "margin": plan.design.margin,
        "looks": list(plan.design.looks),
    }
    found = {
        "base": document["base"]["commit"],
        "head": document["head"]["commit"],
        "profile": document["profile"],
        "margin": document["design"]["margin"],
        "looks": document["design"]["looks"],
    }
    for name, value in wanted.items():
        if found[name] != value:
            raise ValueError(
                f"{partial} is of another comparison: its {name} is {found[name]!r}, not "
                f"{value!r}; delete it, or ask for the same"
            )
    return document


def _take_up(run: Run, document: Mapping[str, Any]) -> None:
    run.pairs = [pair_of_document(pair) for pair in document["pairs"]]
    run.looks_taken = list(document["looks_taken"])
    run.spent_seconds = document["spent_seconds"]
    run.environments = {
        side: dict(document[side]["environment"]) for side in SIDES if document[side]["environment"]
    }
