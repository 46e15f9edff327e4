"""The calibration as JSON values and as tables for people. Decides nothing."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from decider.perf.calibration.calibration import Calibration, Drift, Fit, origin
from decider.perf.calibration.decision import TABLE, Decision, Recommendation
from decider.perf.calibration.fit import LEVEL
from decider.perf.calibration.goodness import Goodness
from decider.perf.calibration.pricing import Estimate

SCHEMA = "decider.calibration/1"
LEAST_P = 1e-6
MEASURED_ON = ("machine", "cpu", "gpu", "driver", "model", "torch", "commit", "time")


def to_dict(calibration: Calibration) -> dict[str, Any]:
    """The calibration as plain JSON values. Shares are fractions, times milliseconds."""
    measurement = calibration.measurement
    return {
        "schema": SCHEMA,
        "source": measurement.source,
        "environment": dict(measurement.environment),
        "grid": measurement.grid.to_dict(),
        "runs": measurement.run_count,
        "derived": calibration.derived,
        "refusals": [vars(refusal) for refusal in calibration.refusals],
        "notes": list(calibration.notes),
        "fits": {
            "whole_grid": _fit(calibration.whole),
            "single_rows": _fit(calibration.single_rows),
        },
        "run_overheads": [_finite(overhead) for overhead in calibration.run_overheads],
        "goodness": _goodness(calibration.goodness),
        "cells": [
            {"batch": shape.batch, "length": shape.length, "milliseconds": ms}
            for shape, ms in (calibration.medians or {}).items()
        ],
        "decision": _decision(calibration.decision),
        "drift": _drift(calibration.drift),
    }


def _fit(fit: Fit | None) -> dict[str, Any] | None:
    if fit is None:
        return None
    return {
        "cells": fit.cells,
        "fixed_milliseconds": fit.line.fixed,
        "milliseconds_per_token": fit.line.per_token,
        "overhead": _finite(fit.line.overhead),
        "interval": [_finite(fit.interval.low), _finite(fit.interval.high)],
        "level": LEVEL,
        "replicated_over": fit.interval.unit,
        "replicates": fit.interval.count,
    }


def _finite(value: float) -> float | None:
    return value if abs(value) != float("inf") else None


def _goodness(well: Goodness | None) -> dict[str, Any] | None:
    if well is None:
        return None
    return {
        "misfit": well.misfit,
        "lack_of_fit": vars(well.lack_of_fit) if well.lack_of_fit else None,
        "worst_cell": {
            "batch": well.worst_shape.batch,
            "length": well.worst_shape.length,
            "error": well.worst_error,
        },
        "by_size": [vars(band) for band in well.bands],
        "held_out": [vars(one) for one in well.held_out],
        "best_form": well.best_form,
    }


def _decision(decision: Decision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    found = decision.recommendation
    return {
        "model": decision.model,
        "current": decision.current,
        "derived": decision.derived,
        "recommendation": {**vars(found), "saving": found.saving._asdict()},
        "excess": [
            {
                "mix": stratum.mix,
                "size": stratum.size,
                "queues": len(stratum.queues),
                "policies": {
                    name: decision.totals.of(stratum.mix, stratum.size)
                    .excess(name, TABLE)
                    ._asdict()
                    for name in decision.policies
                },
            }
            for stratum in decision.totals.strata
        ],
        "sweep": {
            name: decision.sweep.excess(name, TABLE)._asdict()
            for name in decision.sweep.policies
            if name != TABLE
        },
    }


def _drift(drift: Drift | None) -> dict[str, Any] | None:
    if drift is None:
        return None
    return {**vars(drift), "high": _finite(drift.high), "differences": dict(drift.differences)}


def show(calibration: Calibration, console: Console) -> None:
    """Print the calibration: the answer first, then what it rests on."""
    _show_answer(calibration, console)
    measurement = calibration.measurement
    count = f"{len(measurement.cells)} cells, {measurement.run_count} run"
    count += "s" * (measurement.run_count > 1)
    console.print(f"{count}: {escape(origin(measurement))}", highlight=False)
    console.print(f"from {escape(measurement.source)}\n", highlight=False)
    _show_fits(calibration, console)
    if calibration.goodness:
        _show_goodness(calibration.goodness, console)
    if calibration.decision:
        _show_decision(calibration.decision, console)
    if calibration.drift:
        _show_drift(calibration.drift, console)
    for note in calibration.notes:
        console.print(f"note: {escape(note)}", highlight=False)


def answer(recommendation: Recommendation) -> str:
    """The recommendation in one sentence."""
    now = recommendation.overhead
    saving = _range(recommendation.saving)
    if recommendation.action == "keep":
        return f"keep {now}: {recommendation.reason}; a change would save {saving}"
    milliseconds = f"{recommendation.milliseconds:,.0f} ms per 1,000 rows"
    if recommendation.action == "change":
        return f"change to {now}: {recommendation.reason}; saves {saving}, {milliseconds}"
    return f"use the measured table: {recommendation.reason}; saves {saving}, {milliseconds}"


def facts(calibration: Calibration, command: str) -> dict[str, str]:
    """What stands behind the constant, by what it is; only what is known."""
    known = calibration.measurement.environment
    found = {"command": f"`{command}`"}
    found |= {name: str(known[name]) for name in MEASURED_ON if known.get(name)}
    if fit := calibration.whole:
        low, high = fit.interval.low, fit.interval.high
        found |= {
            "runs, cells": f"{calibration.measurement.run_count}, {fit.cells}",
            "line": f"{fit.line.fixed:.4g} ms + {1000 * fit.line.per_token:.4g} µs per token",
            "95% interval": f"{low:.0f} to {high:.0f}, over {fit.interval.unit}s",
        }
    if calibration.goodness:
        found["fit"] = fit_sentence(calibration.goodness)
    if calibration.decision:
        found["advice"] = answer(calibration.decision.recommendation)
    return found


def _show_answer(calibration: Calibration, console: Console) -> None:
    for refusal in calibration.refusals:
        console.print(
            f"[bold red]refused[/] ({refusal.code}): {escape(refusal.message)}", highlight=False
        )
        console.print(f"  cure: {escape(refusal.cure)}", highlight=False)
    if calibration.derived is not None:
        console.print(
            f"[bold]derived overhead: {calibration.derived} token-units[/]", highlight=False
        )
    if calibration.decision:
        console.print(f"[bold]{answer(calibration.decision.recommendation)}[/]", highlight=False)


def _show_fits(calibration: Calibration, console: Console) -> None:
    fits = {"whole grid": calibration.whole, "single rows": calibration.single_rows}
    table = _table(
        "cells",
        "fixed ms",
        "µs per token",
        "overhead",
        "95% interval",
        "over",
        title="t = a + b·B·T",
    )
    for name, fit in fits.items():
        if fit:
            interval = fit.interval
            table.add_row(
                name,
                str(fit.cells),
                f"{fit.line.fixed:.4g}",
                f"{1000 * fit.line.per_token:.4g}",
                f"{fit.line.overhead:,.0f}",
                f"{interval.low:,.0f} to {interval.high:,.0f}",
                f"{interval.count} {interval.unit}s",
            )
    if table.row_count:
        console.print(table)
    if len(calibration.run_overheads) > 1:
        own = ", ".join(f"{overhead:,.0f}" for overhead in calibration.run_overheads)
        console.print(f"overhead of each run: {own}", highlight=False)


def _show_goodness(well: Goodness, console: Console) -> None:
    console.print(f"\n{fit_sentence(well)}", highlight=False)
    table = _table("cells", "mean error", "worst error", title="Error of the line by B·T")
    for band in well.bands:
        table.add_row(
            f"{band.smallest:,} to {band.largest:,}",
            str(band.cells),
            f"{band.mean_error:+.1%}",
            f"{band.worst_error:+.1%}",
        )
    console.print(table)
    if well.held_out:
        kinds = list(well.held_out[0].by_kind)
        table = _table(*kinds, "all", title="Error on held-out cells (root mean square)")
        for one in well.held_out:
            values = [*(one.by_kind[kind] for kind in kinds), one.error]
            table.add_row(one.form, *(f"{value:.1%}" for value in values))
        console.print(table)


def fit_sentence(well: Goodness) -> str:
    """What the goodness of fit comes to, in a few words."""
    shape, band = f"{well.worst_shape.batch}×{well.worst_shape.length}", well.worst_band
    worst = f"largest error {well.worst_error:+.1%}, at {shape}"
    if well.lack_of_fit is None:
        return f"Too few cells to test the line; {worst}."
    p = well.lack_of_fit.p
    chance = f"p = {p:.2g}" if p >= LEAST_P else f"p < {LEAST_P}"
    by = f"({well.lack_of_fit.test} test, {chance})"
    if not well.misfit:
        return f"No lack of fit {by}; {worst}."
    sentence = (
        f"Lack of fit {by}: the line is no true model of these times; {worst}, and "
        f"{band.mean_error:+.1%} on average at B·T of {band.smallest:,} to {band.largest:,}."
    )
    if well.held_out and well.best_form != well.held_out[0].form:
        sentence += f" {well.best_form} predicts held-out cells better."
    return sentence


def _show_decision(decision: Decision, console: Console) -> None:
    mixes = list(dict.fromkeys(stratum.mix for stratum in decision.totals.strata))
    table = _table(
        *decision.policies[:-1],
        title="Time over that of the best plans (the measured table's), in %",
    )
    for mix in mixes:
        totals = decision.totals.of(mix)
        cells = (totals.excess(name, TABLE) for name in decision.policies[:-1])
        table.add_row(escape(mix), *(_per_cent(cell) for cell in cells))
    console.print(table)
    swept = [name for name in decision.sweep.policies if name != TABLE]
    table = _table(*swept, title=f"The same for every constant of the {decision.model} cost, in %")
    values = (decision.sweep.excess(name, TABLE).value for name in swept)
    table.add_row("all", *(f"{100 * value:.1f}" for value in values))
    console.print(table)


def _show_drift(drift: Drift, console: Console) -> None:
    console.print(
        f"\nSince {escape(drift.baseline)}: overhead {drift.before:,.0f} × {drift.ratio:.3f} "
        f"({drift.low:.3f} to {drift.high:.3f}); fixed time × {drift.fixed:.3f}, time per token × "
        f"{drift.per_token:.3f}",
        highlight=False,
    )
    for name, (before, now) in drift.differences.items():
        console.print(f"  {escape(name)}: {escape(f'{before} before, {now} now')}", highlight=False)


def _table(*columns: str, title: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="", box=None, pad_edge=False)
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _range(estimate: Estimate) -> str:
    return f"{estimate.value:.2%} ({estimate.low:.2%} to {estimate.high:.2%})"


def _per_cent(estimate: Estimate) -> str:
    reach = (estimate.high - estimate.low) / 2
    return f"{100 * estimate.value:.1f} ±{100 * reach:.1f}"
