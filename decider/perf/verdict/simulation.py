"""How often the verdicts are wrong, and what they find, in runs whose truth is known.

Run as `python -m decider.perf.verdict.simulation`. The tables in docs/verdicts.md are this
command's output; a smaller version is a test. Judges with `judge` itself, look by look.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from zlib import crc32

import numpy as np
from scipy import special, stats

from decider.perf.verdict.design import DEFAULT_DESIGN, Design
from decider.perf.verdict.judgement import Judgement, Verdict, judge
from decider.perf.verdict.noise import NOISES, Floats, Noise, Runs, simulate
from decider.perf.verdict.resolution import POWER, student_quantile
from decider.perf.verdict.usual_tests import COMPARED_PAIRS, usual_tests_alarm

SUITES = 1_000
CELLS = 100
PAIRS = DEFAULT_DESIGN.looks[-1]
PROCESS_NOISE = 0.01
QUIET = 0.003
LOOK_NOISES = (0.003, 0.01, 0.025)
CHANGES = (0.0025, 0.005, 0.01, 0.02)
FLIPS = 2**10
"""An eighth of what `judge` takes, for speed: exact all the same, and a little less sharp."""
BATCH = 25
CELL_COUNTS = (1, 10, 20, 50, 100, 1_000)
CONFIDENCE = 0.95

Judged = dict[str, Judgement]


@dataclass(frozen=True)
class Task:
    """Suites of one kind.

    Attributes:
        suites, cells, seed: how many, and where chance starts.
        noise: its kind.
        process_noise: its size, see `simulate`.
    """

    suites: int
    cells: int
    seed: int
    noise: Noise = NOISES[0]
    process_noise: float = PROCESS_NOISE

    def batches(self, pairs: int = PAIRS) -> Iterator[Runs]:
        """Unchanged runs, some at a time; the same ones whenever they are asked for."""
        for start in range(0, self.suites, BATCH):
            name = f"{self.noise.name} {self.process_noise}"
            random = np.random.default_rng([self.seed, crc32(name.encode()), start])
            suites = min(BATCH, self.suites - start)
            yield simulate(
                self.noise,
                suites,
                pairs,
                self.cells,
                process_noise=self.process_noise,
                random=random,
            )

    def judged(
        self, changes: Floats | float, looks: Sequence[int], design: Design
    ) -> Iterator[Judged]:
        """Each suite's judgements, with the cells' true changes (relative) put in."""
        for runs in self.batches(looks[-1]):
            yield from judged_suites(runs, changes, looks, design)


def judged_suites(
    runs: Runs, changes: Floats | float, looks: Sequence[int], design: Design
) -> Iterator[Judged]:
    """The judgements of each suite of some runs, with true changes put in."""
    for suite in runs.log_ratios + np.log1p(changes):
        cells = {str(cell): values for cell, values in enumerate(suite.T)}
        yield judge(cells, looks, design, most_flips=FLIPS)


def alarms(judged: Judged) -> bool:
    """Whether any cell was called regressed or improved."""
    return any(j.verdict in (Verdict.REGRESSED, Verdict.IMPROVED) for j in judged.values())


def calls_unchanged(judged: Judged) -> bool:
    """Whether any cell was called unchanged."""
    return any(j.verdict is Verdict.UNCHANGED for j in judged.values())


def holds(judged: Judged, change: float) -> bool:
    """Whether every cell's interval holds the change, up to its rounding."""
    return all(
        (j.low is None or j.low <= change + 1e-12) and (j.high is None or change - 1e-12 <= j.high)
        for j in judged.values()
    )


def share(hits: int, trials: int) -> str:
    """A share with its exact 95% bounds (Clopper and Pearson)."""
    bounds = stats.binomtest(hits, trials).proportion_ci(CONFIDENCE, method="exact")
    return f"{hits / trials:.1%} ({bounds.low:.1%} to {bounds.high:.1%})"


@dataclass(frozen=True)
class Wrong:
    """Suites by what went wrong in them.

    Attributes:
        suites: how many there were.
        alarms: unchanged ones that alarm.
        called_unchanged: ones whose cells all changed by the margin, with a cell called unchanged.
        held: the same ones, whose intervals all hold the truth.
        by_t, by_ranks: unchanged ones in which the two usual tests alarm.
    """

    suites: int
    alarms: int
    called_unchanged: int
    held: int
    by_t: int
    by_ranks: int

    def row(self, title: str) -> str:
        """A line of the table."""
        ours = (self.alarms, self.called_unchanged, self.held)
        cells = [share(hits, self.suites) for hits in ours]
        cells += [f"{hits / self.suites:.1%}" for hits in (self.by_t, self.by_ranks)]
        return f"| {title} | {' | '.join(cells)} |"


def wrong_verdicts(task: Task, design: Design = DEFAULT_DESIGN) -> Wrong:
    """Judge the suites as they are, and with every cell slower by the margin."""
    counts = np.zeros(6, dtype=int)
    for runs in task.batches():
        unchanged = list(judged_suites(runs, 0.0, design.looks, design))
        moved = list(judged_suites(runs, design.margin, design.looks, design))
        counts += [
            len(unchanged),
            sum(map(alarms, unchanged)),
            sum(map(calls_unchanged, moved)),
            sum(holds(judged, design.margin) for judged in moved),
            *usual_tests_alarm(runs),
        ]
    return Wrong(*counts.tolist())


def found(task: Task, change: float, design: Design = DEFAULT_DESIGN) -> str:
    """A line of the table of what is found with 20 pairs where one cell changed."""
    looks = tuple(look for look in design.looks if look <= COMPARED_PAIRS)
    changes = np.zeros(task.cells)
    changes[0] = change
    first = [judged["0"] for judged in task.judged(changes, looks, design)]
    counts = [sum(j.verdict is verdict for j in first) for verdict in list(Verdict)[:4]]
    regressed, improved, unchanged, inconclusive = counts
    return (
        f"| {change:.2%} | {share(regressed, task.suites)} | {unchanged / task.suites:.1%} "
        f"| {inconclusive / task.suites:.1%} | {improved / task.suites:.1%} |"
    )


def decided(task: Task, design: Design = DEFAULT_DESIGN) -> str:
    """A line of the table of when unchanged cells are decided."""
    suites = list(task.judged(0.0, design.looks, design))
    cells = [judgement for judged in suites for judgement in judged.values()]
    never = sum(judgement.decided_at is None for judgement in cells)
    at = [sum(j.decided_at == look for j in cells) / len(cells) for look in design.looks]
    return (
        f"| {task.process_noise:.1%} | {' | '.join(f'{one:.1%}' for one in at)} "
        f"| {never / len(cells):.1%} "
        f"| {_visible(task, 20, design)} | {_visible(task, 40, design)} |"
    )


def visible_multiple(pairs: int, cells: int, design: Design = DEFAULT_DESIGN) -> float:
    """The smallest visible change over the standard deviation of a pair's log-ratio.

    By the criterion of Student's t alone, and for changes so small that logarithms are ratios.
    """
    tail = design.alarm_level_of_a_look / cells / 2
    beyond = float(student_quantile(tail, pairs)) + float(special.ndtri(POWER))
    return beyond / math.sqrt(pairs)


def _visible(task: Task, pairs: int, design: Design) -> str:
    """Median of the cells' smallest visible changes at one look."""
    few = replace(task, suites=min(task.suites, BATCH))
    seen = [
        judgement.smallest_visible
        for judged in few.judged(0.0, (pairs,), design)
        for judgement in judged.values()
        if judgement.smallest_visible is not None
    ]
    return f"{np.median(seen):.2%}" if seen else "none"


def _visible_row(cells: int) -> str:
    multiples = [visible_multiple(pairs, cells) for pairs in DEFAULT_DESIGN.looks]
    return f"| {cells:,} | {' | '.join(f'{one:.2f}' for one in multiples)} |"


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m decider.perf.verdict.simulation", description=__doc__
    )
    parser.add_argument("--suites", type=_whole, default=SUITES, help="default: %(default)s")
    parser.add_argument("--cells", type=_whole, default=CELLS, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument(
        "--noise",
        nargs="+",
        choices=[noise.name for noise in NOISES],
        metavar="NAME",
        help="kinds of noise of the first table; default: all of %(choices)s",
    )
    return parser.parse_args(arguments)


def _whole(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {value}")
    return value


def _table(title: str, header: str, lines: Iterable[Callable[[], str]]) -> None:
    print(f"\n**{title}**\n\n{header}\n| --- {'| ---: ' * (header.count('|') - 2)}|")
    for line in lines:
        start = time.monotonic()
        text = line()
        print(text, flush=True)
        name = text.split("|")[1].strip()
        print(f"{title}: {name}, {time.monotonic() - start:.0f} s", file=sys.stderr)


def _wrong_verdicts_table(task: Task, names: Sequence[str]) -> None:
    tasks = [replace(task, noise=noise) for noise in NOISES if noise.name in names]
    seen: list[Wrong] = []

    def line(one: Task) -> str:
        seen.append(wrong_verdicts(one))
        return seen[-1].row(one.noise.title)

    def total() -> str:
        sums = np.sum([astuple(wrong) for wrong in seen], axis=0)
        return Wrong(*sums.tolist()).row("all of these")

    _table(
        f"Wrong verdicts: {task.suites:,} suites of {task.cells} cells a line, "
        f"a process adds {task.process_noise:.1%} to a cell",
        "| noise | unchanged suites with an alarm (95% bounds) | every cell slower by the margin: "
        'suites with an "unchanged" | the same: suites whose intervals all hold the truth '
        "| a paired t test a cell at 1%: suites with an alarm | a Mann-Whitney test at 1% that "
        "pools the samples: suites with an alarm |",
        [*(partial(line, one) for one in tasks), total],
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables of docs/verdicts.md."""
    chosen = _arguments(arguments)
    task = Task(chosen.suites, chosen.cells, chosen.seed)
    names = chosen.noise or [noise.name for noise in NOISES]
    _wrong_verdicts_table(task, names)
    looks = DEFAULT_DESIGN.looks
    quiet = replace(task, process_noise=QUIET)
    _table(
        f"What {COMPARED_PAIRS} pairs find: one cell of {task.cells} changed, {task.suites:,} "
        f"suites, a process adds {QUIET:.1%} to a cell",
        "| change | regressed (95% bounds) | unchanged | inconclusive | improved |",
        [partial(found, quiet, change) for change in CHANGES],
    )
    _table(
        f"When unchanged cells are decided: {task.suites:,} suites of {task.cells} cells a line",
        f"| a process adds | {' | '.join(f'{look} pairs' for look in looks)} | never "
        "| smallest visible change, 20 pairs | 40 pairs |",
        [partial(decided, replace(task, process_noise=size)) for size in LOOK_NOISES],
    )
    _table(
        "Smallest visible change, in standard deviations of a pair's log-ratio (not simulated)",
        f"| cells | {' | '.join(f'{pairs} pairs' for pairs in looks)} |",
        [partial(_visible_row, cells) for cells in CELL_COUNTS],
    )


if __name__ == "__main__":
    main()
