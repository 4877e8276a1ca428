"""One file goes to and fro between contents it had before, whatever grows around it."""

from __future__ import annotations

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.words import span

RETURNS = 3


def file_flip_flop(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop when a file returned to an earlier content three times within eight iterations."""
    if settings.stop.oscillation is None:
        return None
    for path, flips in history.churn.flips.items():
        if len(flips) >= RETURNS and flips[-1] == history.count:
            numbers = tuple(flips)
            detail = f"{span(numbers)} put the same file back to what it was before: {path}"
            return Stop(Reason.OSCILLATION, detail, iterations=numbers)
    return None
