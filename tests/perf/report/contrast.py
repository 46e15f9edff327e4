"""Contrast of two colours by WCAG 2.1: https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio"""

from __future__ import annotations


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours `#rrggbb`, 1 to 21."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
