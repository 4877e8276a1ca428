"""Iterations that take back each other's lines, though something new (a comment) makes each state look fresh."""

from __future__ import annotations

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.churn import Reverse
from ralph.judge.history import History
from ralph.judge.words import some, span

REVERSES = 3
OF = 4
"""Of the newest moves. Three of six would be met once in 600 healthy commits."""
FEWER = 2


def reverse_hunks(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop at three reverses in four moves; at two where the tests that fail are the same, and some do."""
    if settings.stop.oscillation is None:
        return None
    newest = [one.number for one in history.churn.passed][-OF:]
    row = tuple(one for one in history.churn.reverses if one.number in newest)
    if not row or row[-1].number != history.count:
        return None
    if len(row) < REVERSES and not (len(row) >= FEWER and _is_stuck(row)):
        return None
    numbers = tuple(one.number for one in row)
    files = sorted({path for one in row for path in one.paths})
    share = min(one.overlap for one in row)
    detail = (
        f"{span(numbers)} took back {share:.0%} or more of the lines of the iterations before; files: {some(files)}"
    )
    return Stop(Reason.OSCILLATION, detail, iterations=numbers)


def _is_stuck(row: tuple[Reverse, ...]) -> bool:
    return bool(row[-1].failing) and len({one.failing for one in row}) == 1
