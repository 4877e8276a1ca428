"""Shares of counted things with the bounds within which the true share lies."""

from __future__ import annotations

from math import sqrt

Z = 1.959964
"""Standard deviations that hold 95 %."""


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Return the 95 % bounds of a share, each 0 to 1; (0, 1) where nothing was counted.

    Source: Wilson 1927; unlike the plain interval it says something where there was no hit at all.
    """
    if of <= 0:
        return 0.0, 1.0
    share, square = hits / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    reach = Z * sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def shown(hits: int, of: int) -> str:
    """Return a share for people: "3 = 1.1 % [0.4-3.1]"."""
    low, high = wilson(hits, of)
    return f"{hits} = {100 * hits / max(1, of):.1f} % [{100 * low:.1f}-{100 * high:.1f}]"
