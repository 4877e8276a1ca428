"""How one iteration can end: the closed list of outcomes (design 3.3)."""

from __future__ import annotations

from enum import Enum


class Outcome(Enum):
    """The ending of one iteration; the value is the public word."""

    __hash__ = object.__hash__  # the one of Enum is written in Python, and sets of these are asked all the time

    COMPLETED = "completed"
    FAILED = "failed"
    QUICK = "quick"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    OWN_LIMIT = "own-limit"
    LOOPING = "looping"
    TIMED_OUT = "timed-out"
    IDLE = "idle"
    QUOTA = "quota"
    OUTAGE = "outage"
    AUTH = "auth"
    MISCONFIGURED = "misconfigured"
    MISSING = "missing"
    NOT_STARTED = "not-started"
    POISONED = "poisoned"
    INTERRUPTED = "interrupted"
    LIMIT = "limit"
    """Ended by a limit of the run itself: time, cost or tokens."""


VOID = frozenset(
    {
        Outcome.QUICK,
        Outcome.QUOTA,
        Outcome.OUTAGE,
        Outcome.AUTH,
        Outcome.MISCONFIGURED,
        Outcome.MISSING,
        Outcome.NOT_STARTED,
        Outcome.POISONED,
        Outcome.INTERRUPTED,
    }
)
"""Outcomes that say nothing about the agent's work: no stretch counts them."""
