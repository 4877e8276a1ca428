"""The tests go in a circle: failing sets that repeat, or one test broken for the third time."""

from __future__ import annotations

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.trail import FailingSet
from ralph.judge.words import some, span

PERIODS = (2, 3, 4)
BREAKS = 3


def circle_of_tests(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop at the second full period of failing sets, or the third break of a test, while nothing else got better."""
    if settings.stop.oscillation is None:
        return None
    return _repeats(history) or _breaks_again(history)


def _repeats(history: History) -> Stop | None:
    sets = list(history.trail.sets)
    if len({one.failing for one in sets}) < 2:
        return None
    for period in PERIODS:
        if len(sets) < 2 * period or sets[-1].failing != sets[-1 - period].failing:
            continue
        row = sets[-2 * period :]
        if row[-1].number == history.count and _is_circle(history, row):
            numbers = tuple(one.number for one in row)
            tests = sorted(frozenset[str]().union(*(one.failing for one in row)))
            detail = f"{span(numbers)} failed the same sets of tests in turn, period {period}: {some(tests)}"
            return Stop(Reason.OSCILLATION, detail, iterations=numbers, tests=tuple(tests[:20]))
    return None


def _is_circle(history: History, row: list[FailingSet]) -> bool:
    half = len(row) // 2
    sets = {one.failing for one in row}
    if [one.failing for one in row[:half]] != [one.failing for one in row[half:]] or len(sets) < 2:
        return False
    if any(one.fresh for one in row[1:]) or frozenset() in sets:
        return False  # new tests are work; and green in between looks the same as a flaky test
    # One test more and one less may be a flaky test beside a plan; tests that take each other's place are not.
    return history.green_is_goal or not any(one < other for one in sets for other in sets)


def _breaks_again(history: History) -> Stop | None:
    for test, breaks in history.trail.breaks.items():
        if len(breaks) < BREAKS or breaks[-1].number != history.count:
            continue
        if history.green_is_goal or all(one.swapped for one in breaks):
            numbers = tuple(one.number for one in breaks)
            detail = f"{span(numbers)} broke the same test each time, repaired in between: {test}"
            return Stop(Reason.OSCILLATION, detail, iterations=numbers, tests=(test,))
    return None
