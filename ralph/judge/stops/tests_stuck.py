"""Getting green is the goal, and the tests do not get better."""

from __future__ import annotations

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import TESTS_STUCK, History
from ralph.judge.words import some, span

ALL_RED = 8


def tests_stuck(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop after K in a row without a repaired or new test; 8 while all are red, twice K without test ids."""
    asked = settings.stop.tests_stuck
    if asked is None or (asked == "auto" and not history.green_is_goal):
        return None
    suite, stuck, newest = history.tests_last, history.trail.stuck, history.newest
    if suite is None or newest is None or not stuck or stuck[-1] != newest.number:
        return None
    limit = TESTS_STUCK if asked == "auto" else asked
    limit *= 2 if suite.format == "exit" else 1  # an exit code alone is weak evidence
    limit = limit if suite.passing else max(ALL_RED, limit)
    if len(stuck) < limit:
        return None
    row = list(stuck)[-limit:]
    tests = tuple(sorted(suite.failing)[:20])
    which = f"still failing: {some(sorted(suite.failing))}" if tests else "still red"
    return Stop(Reason.TESTS_STUCK, f"{span(row)} repaired no test; {which}", iterations=tuple(row), tests=tests)
