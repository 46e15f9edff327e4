"""What is found in series whose truth is known, by this package and by asv's detector alone.

Run as `python -m decider.perf.history.simulation`. The tables in docs/history.md are this command's
output; a smaller version is a test.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from scipy import stats

from decider.perf.history.changes import Change, find_changes
from decider.perf.history.findings import confirmed_up_to
from decider.perf.history.steps import Values

SERIES = 1_000
NOISE = 0.01
SPIKE_SHARE = 0.03
SPIKE_SIZE = 10
NEAR = 5
"""Commits that a step may be found away from its place and still counts as found."""

FOLDER = 40
"""Series of a simulated results folder."""

Noise = Callable[[np.random.Generator, int], Values]
Detector = Callable[[Sequence[float]], list[int]]


def normal(random: np.random.Generator, count: int) -> Values:
    """Independent, standard normal."""
    return random.standard_normal(count)


def long_tailed(random: np.random.Generator, count: int) -> Values:
    """Independent, Student's t with 3 degrees of freedom, standard deviation 1."""
    values: Values = random.standard_t(3, count) / np.sqrt(3)
    return values


def spiked(random: np.random.Generator, count: int) -> Values:
    """Normal, and 3% of the commits slower by ten standard deviations."""
    return normal(random, count) + SPIKE_SIZE * (random.random(count) < SPIKE_SHARE)


def correlated(by: float) -> Noise:
    """Normal with this correlation from commit to commit, standard deviation 1."""

    def noise(random: np.random.Generator, count: int) -> Values:
        from scipy.signal import lfilter

        innovations = normal(random, count) * np.sqrt(1 - by**2)
        innovations[:1] = normal(random, 1)
        filtered: Values = lfilter([1.0], [1.0, -by], innovations)
        return filtered

    return noise


NOISES: dict[str, Noise] = {"normal": normal, "t, 3 df": long_tailed, "3% spikes": spiked}


@dataclass(frozen=True)
class Scenario:
    """How series are simulated.

    Attributes:
        name: for people.
        noise: what is added to the logarithm, in units of `size`.
        count: commits.
        size: standard deviation of the noise, relative.
        step: how much the last `after` commits are slower, in standard deviations.
        drift: how much slower each commit of a drift of `after` commits is, relative.
        rest: commits at the new level after the drift.
    """

    name: str
    noise: Noise
    count: int = 100
    size: float = NOISE
    step: float = 0.0
    after: int = 0
    drift: float = 0.0
    rest: int = 0

    def simulate(self, random: np.random.Generator) -> Values:
        """One series, about 1 before the change."""
        places = np.arange(self.count) - (self.count - self.after - self.rest)
        level = self.size * self.step * (places >= 0)
        level = level + np.log1p(self.drift) * np.clip(places + 1, 0, self.after)
        series: Values = np.exp(level + self.size * self.noise(random, self.count))
        return series

    def all(self, series: int) -> Iterator[list[float]]:
        """The same series at every call."""
        for seed in range(series):
            random = np.random.default_rng([seed, crc32(self.name.encode())])
            yield self.simulate(random).tolist()


STILL = (
    *(
        Scenario(f"{name}, {count} commits", noise, count)
        for count in (10, 30, 100, 300)
        for name, noise in NOISES.items()
    ),
    *(Scenario(f"correlated by {by}, 100 commits", correlated(by)) for by in (0.2, 0.5)),
)
STEPS = (
    *(
        Scenario(
            f"{name}, {size} x noise, {after} of {count} commits", noise, count, NOISE, size, after
        )
        for count, after, size in (
            *((100, 5, 2), (100, 5, 3), (100, 3, 4), (100, 10, 2)),
            *((300, 5, 2), (30, 5, 2), (10, 3, 10)),
        )
        for name, noise in NOISES.items()
    ),
)
DRIFTS = tuple(
    Scenario(f"noise {size:.0%}, {where}", normal, 100, size, 0.0, 30, 0.005, rest)
    for where, rest in (("still going on", 0), ("35 commits ago", 35))
    for size in (0.01, 0.02, 0.04, 0.08)
)


def asv_alone(values: Sequence[float]) -> list[int]:
    """Where asv's detector, as its pages use it, says that a step is."""
    from asv.step_detect import detect_steps  # type: ignore[import-untyped]

    return [left for left, *_ in detect_steps(values)][1:]


def ours(values: Sequence[float]) -> list[int]:
    """The likeliest places of the changes that this package finds."""
    return [change.most_likely for change in find_changes(values)]


DETECTORS: dict[str, Detector] = {"decider": ours, "asv alone": asv_alone}


def share(count: int, total: int) -> str:
    """A share with its exact 95% bounds (Clopper and Pearson)."""
    bounds = stats.binomtest(count, total).proportion_ci()
    return f"{count / total:.1%} ({bounds.low:.1%} to {bounds.high:.1%})"


def is_near(scenario: Scenario, place: int) -> bool:
    """Whether a place is near the step of `scenario`."""
    return abs(place - (scenario.count - scenario.after)) <= NEAR


def row_of_still(scenario: Scenario, series: int) -> str:
    """A line of the table of series without a change."""
    found = [find_changes(values) for values in scenario.all(series)]
    steps = sum(any(change.kind == "step" for change in changes) for changes in found)
    drifts = sum(any(change.kind == "drift" for change in changes) for changes in found)
    return f"| {scenario.name} | {share(steps, series)} | {share(drifts, series)} |"


def folders_of(series: int) -> int:
    """How many folders are simulated where `series` series a line are asked for."""
    return max(1, series // 10)


def row_of_folder(scenario: Scenario, series: int) -> str:
    """A line of the table of whole folders."""
    folders = folders_of(series)
    clearest = [
        min((change.chance for change in find_changes(values)), default=1.0)
        for values in scenario.all(folders * FOLDER)
    ]
    own = [clearest[start : start + FOLDER] for start in range(0, len(clearest), FOLDER)]
    confirmed = sum(min(chances) <= confirmed_up_to(chances) for chances in own)
    return f"| {scenario.name} | {share(confirmed, folders)} |"


def row_of_step(scenario: Scenario, series: int) -> str:
    """A line of the table of steps."""
    near = [
        [change for change in find_changes(values) if is_near(scenario, change.most_likely)]
        for values in scenario.all(series)
    ]
    found = [changes[0] for changes in near if changes]
    steps = [change for change in found if change.kind == "step"]
    held = sum(change.after < scenario.count - scenario.after <= change.index for change in steps)
    widths = [change.index - change.after for change in steps]
    return (
        f"| {scenario.name} | {share(len(found), series)} | {_of(len(found) - len(steps), found)} "
        f"| {_of(held, steps)} | {np.median(widths) if widths else 0:.0f} |"
    )


def row_of_drift(scenario: Scenario, series: int) -> str:
    """A line of the table of drifts."""
    found = [changes for values in scenario.all(series) if (changes := find_changes(values))]
    drifts = [_drift(changes) for changes in found]
    alone = sum(
        bool(drift) and len(changes) == 1 for drift, changes in zip(drifts, found, strict=True)
    )
    sizes = [drift.change for drift in drifts if drift]
    return (
        f"| {scenario.name} | {share(len(found), series)} "
        f"| {share(len(sizes), series)} | {_of(alone, found)} "
        f"| {np.median(sizes) if sizes else 0:+.1%} |"
    )


def row_of_detectors(scenario: Scenario, series: int) -> str:
    """A line of the table of detectors: how often each finds something, near the step if any."""
    cells = []
    for detector in DETECTORS.values():
        places = [detector(values) for values in scenario.all(series)]
        if scenario.step:
            places = [[place for place in one if is_near(scenario, place)] for one in places]
        cells.append(share(sum(map(bool, places)), series))
    return f"| {scenario.name} | " + " | ".join(cells) + " |"


def _drift(changes: Sequence[Change]) -> Change | None:
    return next((change for change in changes if change.kind == "drift"), None)


def _of(count: int, of: Sequence[object]) -> str:
    return f"{count / len(of):.1%}" if of else "none"


Table = tuple[str, str, Sequence[Scenario], Callable[[Scenario, int], str]]

TABLES: Sequence[Table] = (
    (
        "No change ({series:,} series a line)",
        "false steps (95% bounds) | false drifts (95% bounds)",
        STILL,
        row_of_still,
    ),
    (
        "A change confirmed in a folder of 40 series without any ({folders:,} folders a line)",
        "confirmed (95% bounds)",
        [scenario for scenario in STILL if scenario.count == 100],
        row_of_folder,
    ),
    (
        "A step, found within 5 commits of its place ({series:,} series a line)",
        "found (95% bounds) | called a drift | in the range given | median commits of the range",
        STEPS,
        row_of_step,
    ),
    (
        "A drift of 0.5% a commit over 30 of 100 commits, 16% in all ({series:,} series a line)",
        "found (95% bounds) | as a drift (95% bounds) | as one drift and nothing else "
        "| median size found",
        DRIFTS,
        row_of_drift,
    ),
)


def main() -> None:
    """Print the tables of docs/history.md."""
    parser = argparse.ArgumentParser(prog="python -m decider.perf.history.simulation")
    parser.add_argument(
        "--series", type=int, default=SERIES, help="series a line (default: %(default)s)"
    )
    parser.add_argument(
        "--detectors",
        action="store_true",
        help="print the table that compares with asv's detector alone, instead",
    )
    arguments = parser.parse_args()
    tables: Sequence[Table] = TABLES
    if arguments.detectors:
        alike = [scenario for scenario in (*STILL, *STEPS) if scenario.count == 100]
        headings = " | ".join(DETECTORS)
        tables = [
            (
                "Something found, with 95% bounds ({series:,} series a line)",
                headings,
                alike,
                row_of_detectors,
            )
        ]
    for title, headings, scenarios, row in tables:
        count = {"series": arguments.series, "folders": folders_of(arguments.series)}
        print(f"\n**{title.format(**count)}**\n")
        print(f"| simulated | {headings} |")
        print("| --- |" + " ---: |" * (headings.count("|") + 1))
        for scenario in scenarios:
            print(row(scenario, arguments.series), flush=True)


if __name__ == "__main__":
    main()
