"""The agent hangs: our own time limits had to end it, time after time."""

from __future__ import annotations

from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.words import quote, span

HUNG = frozenset({Outcome.TIMED_OUT, Outcome.IDLE})
LIMIT = 3


def agent_hang(history: History, _settings: Settings, _moment: Moment) -> Stop | None:
    """Stop at the third iteration in a row that was timed out or idle and left no new state."""
    newest = history.newest
    if newest is None or newest.outcome not in HUNG:
        return None
    row = history.tail(HUNG, no_news=True)[-LIMIT:]
    if len(row) < LIMIT:
        return None
    numbers = tuple(one.number for one in row)
    said = f": {quote(row[-1].detail)}" if row[-1].detail else ""
    return Stop(Reason.AGENT_HANG, f"{span(numbers)} hung without a new state{said}", iterations=numbers)
