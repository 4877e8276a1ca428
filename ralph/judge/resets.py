"""When a limit lifts: which reset times are believed, and when to ask again where none is."""

from __future__ import annotations

from datetime import datetime

MINUTE = 60.0
PROBES = (5 * MINUTE, 10 * MINUTE, 20 * MINUTE, 40 * MINUTE)
"""Pauses while nobody knows when a usage limit lifts (R061), or after it should have lifted and did not (R059)."""
STALE_S = 10 * MINUTE
"""A reset longer past than this tells nothing about the limit that was just met."""
LONGEST_S = 8 * 24 * 60 * MINUTE
"""Weekly limits exist; a reset further off is a mistake or a lie."""


def seconds_to(until: datetime | None, wall: datetime) -> float | None:
    """Return the seconds until a reset, 0 where it is just past, None where it cannot be believed."""
    if until is None:
        return None
    seconds = (until - wall).total_seconds()
    return max(0.0, seconds) if -STALE_S <= seconds <= LONGEST_S else None


def probe(tries: int) -> float:
    """Return the pause after so many tries in vain (from 1); the last one for ever after."""
    return PROBES[min(max(1, tries), len(PROBES)) - 1]
