"""How a number of a unit is written for people."""

from __future__ import annotations

import math

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))


def quantity(value: float, unit: str) -> str:
    """`value` in `unit` with three significant digits: `12.3 ms`, `1.50 GiB`, `0.905`.

    Seconds and bytes are written in the multiple that fits them; a ratio, and a value whose unit
    nobody declared, without a unit.
    """
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else "infinite"
    if unit == "seconds":
        return _scaled(value, _TIMES)
    if unit == "bytes":
        return _scaled(value, _BYTES)
    if unit == "microseconds":
        return f"{_digits(value)} µs"
    if unit == "percent":
        return f"{_digits(value)}%"
    if unit == "ratio" and 0.1 <= abs(value) < 10:  # the same digits on both sides of 1
        return f"{value:.3f}"
    return _digits(value) if unit in ("", "ratio") else f"{_digits(value)} {unit}"


def exact(value: float) -> str:
    """`value` with twelve digits: enough to see any change of an exact figure."""
    return f"{value:.12g}"


def ratio(now: float, before: float) -> float:
    """`now / before`; NaN where it means nothing, as beside a zero."""
    usable = math.isfinite(now) and math.isfinite(before) and before > 0
    return now / before if usable else math.nan


def counted(count: int, noun: str) -> str:
    """`1 cell`, `2 cells`, `1,000 cells`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _scaled(value: float, scales: tuple[tuple[float, str], ...]) -> str:
    fitting = (scale for scale in scales if abs(value) >= scale[0])
    size, name = next(fitting, scales[-1])
    return f"{_digits(value / size)} {name}"


def _digits(value: float) -> str:
    """Three significant digits, without an exponent where that is readable."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if not -4 <= magnitude <= 8:
        return f"{value:.2e}"
    return f"{value:,.{max(0, 2 - magnitude)}f}"
