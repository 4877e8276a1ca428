"""The agent's program is not there or cannot be started."""

from __future__ import annotations

from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.words import quote, span

NOT_UP = frozenset({Outcome.MISSING, Outcome.NOT_STARTED})
TRIES = 3


def agent_missing(history: History, _settings: Settings, _moment: Moment) -> Stop | None:
    """Stop at once when it was missing from the start; in mid-run (an update) after three tries in a row."""
    newest = history.newest
    if newest is None or newest.outcome not in NOT_UP:
        return None
    if history.relay.stand_in() is not None:
        return None
    row = history.tail(NOT_UP)
    missing = newest.outcome is Outcome.MISSING
    never_ran = missing and history.count == len(row)
    if len(row) < TRIES and not never_ran:
        return None
    numbers = tuple(one.number for one in row[-TRIES:])
    reason = Reason.AGENT_MISSING if missing else Reason.AGENT_FAILING
    return Stop(reason, f"{span(numbers)} could not start the agent: {quote(newest.detail)}", iterations=numbers)
