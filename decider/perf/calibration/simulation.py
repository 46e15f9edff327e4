"""What the calibration finds on grids whose truth is known.

Run as `python -m decider.perf.calibration.simulation`. Grids are simulated with the faults of real
ones (noise, slow outliers, drift, cells that stop early, processes that differ) and with truths
that are no line. The tables in docs/calibration.md are this command's output; a smaller version is
a test.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
from scipy import stats

from decider.grid import CPU_GRID, BucketGrid, Shape
from decider.perf.calibration.fit import fit_line, overhead_interval
from decider.perf.calibration.goodness import lack_of_fit
from decider.perf.calibration.measurement import Measurement, combined, measurement
from decider.perf.calibration.refusals import refusals_of_fit
from decider.perf.calibration.replication import Replicates, replicates

TRUE_OVERHEAD = 667.0
MILLISECONDS_PER_TOKEN = 0.0138
SAMPLES_A_BLOCK = 4
SLOW_SHARE = 0.03
"""Share of the samples that are slow, where there are any; each by 100% on average."""
SEEDS = 200
DRAWS = 500
"""Half of what `decider calibrate` draws, for speed."""


def line(shape: Shape) -> float:
    """Padded tokens, so that the truth is a line."""
    return float(shape.batch * shape.length)


def knee(shape: Shape) -> float:
    """Flat up to 512 padded tokens."""
    return float(max(512, shape.batch * shape.length))


def squared(shape: Shape) -> float:
    """An eighth more for a token of the longest length bucket: attention."""
    return shape.batch * shape.length * (1 + shape.length / 65_536)


def rows(shape: Shape) -> float:
    """Every row costs 20 tokens more: work that is done once a row."""
    return shape.batch * (shape.length + 20.0)


@dataclass(frozen=True)
class Scenario:
    """How grids are simulated.

    Attributes:
        name: for people.
        noise: standard deviation of the logarithm of a sample.
        outliers: whether 3% of the samples are slow.
        drift: by how much the machine is slower at the end of a run than at its beginning.
        blocks: fewest and most blocks a cell; a cell stops at a random one in between.
        processes: runs, each a process.
        process_noise: standard deviation of what a process adds to the logarithm of a cell.
        work: the truth: tokens of a shape, in which its time is a line.
        overhead: the truth: token-units.
        grid: the captured shapes.
    """

    name: str
    noise: float = 0.01
    outliers: bool = False
    drift: float = 0.0
    blocks: tuple[int, int] = (8, 8)
    processes: int = 1
    process_noise: float = 0.0
    work: Callable[[Shape], float] = line
    overhead: float = TRUE_OVERHEAD
    grid: BucketGrid = field(default_factory=BucketGrid)

    def simulate(self, random: np.random.Generator) -> Measurement:
        """One measurement."""
        return combined([self._run(random) for _ in range(self.processes)])

    def _run(self, random: np.random.Generator) -> Measurement:
        fewest, most = self.blocks
        cells = {}
        for shape in self.grid.shapes:
            count = int(random.integers(fewest, most + 1))
            truth = MILLISECONDS_PER_TOKEN * (self.overhead + self.work(shape))
            truth *= np.exp(random.normal(0, self.process_noise))
            when = (np.arange(count) + random.random(count)) / most
            samples = random.normal(0, self.noise, (count, SAMPLES_A_BLOCK))
            values = truth * np.exp(samples) * (1 + self.drift * when)[:, None]
            if self.outliers:
                slow = random.random(values.shape) < SLOW_SHARE
                values = values * np.where(slow, 1 + random.exponential(1, values.shape), 1)
            cells[shape] = tuple(map(tuple, values.tolist()))
        return measurement(cells, "simulated", grid=self.grid, queueing=False)


@dataclass(frozen=True)
class Outcome:
    """What was found in one simulated measurement."""

    overhead: float
    low: float
    high: float
    misfit: bool
    refused: bool

    @property
    def holds_truth(self) -> bool:
        """Whether the interval holds the true overhead."""
        return self.low <= TRUE_OVERHEAD <= self.high


LADDER = BucketGrid(batch_buckets=(1,))

LINEAR = (
    Scenario("noise 0.5%", noise=0.005),
    Scenario("noise 1%"),
    Scenario("noise 2%", noise=0.02),
    Scenario("noise 3%", noise=0.03),
    Scenario("noise 1%, 3% slow outliers", outliers=True),
    Scenario("noise 1%, drift 3%", drift=0.03),
    Scenario(
        "noise 3%, outliers, drift, cells stop early",
        noise=0.03,
        outliers=True,
        drift=0.03,
        blocks=(6, 20),
    ),
    Scenario("noise 1%, the CPU grid", grid=CPU_GRID),
    Scenario("noise 1%, the single-row ladder", grid=LADDER),
    Scenario("noise 1%, processes differ by 2%, 3 runs", processes=3, process_noise=0.02),
    Scenario("noise 1%, processes differ by 2%, 5 runs", processes=5, process_noise=0.02),
)
OUTSIDE = (
    Scenario("noise 1%, processes differ by 2%, 1 run", process_noise=0.02),
    Scenario("noise 1%, processes differ by 2%, 2 runs", processes=2, process_noise=0.02),
)
"""Where the truth is a line but one or two processes cannot know how processes differ."""

NOT_LINEAR = (
    Scenario("noise 1%, flat up to 512 tokens", work=knee),
    Scenario("noise 3%, flat up to 512 tokens", noise=0.03, work=knee),
    Scenario("noise 1%, a term for T squared", work=squared),
    Scenario("noise 3%, a term for T squared", noise=0.03, work=squared),
    Scenario("noise 1%, a term for the rows", work=rows),
    Scenario("noise 3%, outliers, drift, a term for T squared", 0.03, True, 0.03, work=squared),
)


def outcome(scenario: Scenario, seed: int) -> Outcome:
    """Simulate one measurement and calibrate it."""
    random = np.random.default_rng([seed, crc32(scenario.name.encode())])
    measured = replicates(scenario.simulate(random))
    fitted = fit_line(measured.tokens, measured.medians)
    misfit = _misfit(measured)
    interval = overhead_interval(measured, random, scattered=misfit, draws=DRAWS)
    return Outcome(
        fitted.overhead,
        interval.low,
        interval.high,
        misfit,
        bool(refusals_of_fit(fitted, interval)),
    )


def _misfit(measured: Replicates) -> bool:
    test = lack_of_fit(measured)
    return test is not None and test.found


def row(scenario: Scenario, outcomes: Sequence[Outcome]) -> str:
    """A line of the table."""
    errors = [abs(one.overhead / TRUE_OVERHEAD - 1) for one in outcomes]
    reach = [(one.high - one.low) / 2 / one.overhead for one in outcomes]
    held = sum(one.holds_truth for one in outcomes)
    bounds = stats.binomtest(held, len(outcomes)).proportion_ci()
    return (
        f"| {scenario.name} | {np.median(errors):.2%} | {np.median(reach):.2%} "
        f"| {held / len(outcomes):.1%} ({bounds.low:.1%} to {bounds.high:.1%}) "
        f"| {np.mean([one.misfit for one in outcomes]):.1%} "
        f"| {np.mean([one.refused for one in outcomes]):.1%} |"
    )


def main() -> None:
    """Print the tables of docs/calibration.md."""
    parser = argparse.ArgumentParser(prog="python -m decider.perf.calibration.simulation")
    parser.add_argument(
        "--seeds", type=int, default=SEEDS, help="grids a line (default: %(default)s)"
    )
    seeds = parser.parse_args().seeds
    titles = ("The truth is a line", "A line, but too few processes", "The truth is no line")
    for title, scenarios in zip(titles, (LINEAR, OUTSIDE, NOT_LINEAR), strict=True):
        print(f"\n**{title}** ({seeds} grids a line)\n")
        print(
            "| simulated | median error | half-width | truth in the 95% interval (95% bounds) "
            "| lack of fit found | refused |"
        )
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        for scenario in scenarios:
            print(row(scenario, [outcome(scenario, seed) for seed in range(seeds)]), flush=True)


if __name__ == "__main__":
    main()
