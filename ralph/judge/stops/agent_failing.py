"""The agent fails again and again, whatever words it finds for it."""

from __future__ import annotations

from dataclasses import dataclass

from ralph.facts.iteration import Iteration
from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.words import quote, span


@dataclass(frozen=True, slots=True)
class Breaker:
    """So many iterations in a row with one of these outcomes; no_news: a new state among them starts the row anew."""

    outcomes: frozenset[Outcome]
    limit: int
    words: str
    no_news: bool = False


ANY_TROUBLE = frozenset(
    {
        Outcome.FAILED,
        Outcome.QUICK,
        Outcome.REFUSED,
        Outcome.OUTAGE,
        Outcome.TIMED_OUT,
        Outcome.IDLE,
        Outcome.POISONED,
        Outcome.MISSING,
        Outcome.NOT_STARTED,
    }
)
BREAKERS = (
    Breaker(frozenset({Outcome.QUICK}), 3, "died at once or said nothing"),
    Breaker(frozenset({Outcome.REFUSED}), 3, "were refused by the model"),
    Breaker(frozenset({Outcome.POISONED}), 2, "lost their guardian process"),
    Breaker(frozenset({Outcome.OUTAGE}), 5, "met an outage"),
    Breaker(frozenset({Outcome.FAILED}), 5, "failed without a new state", no_news=True),
    # Troubles that take turns would never fill a row of their own.
    Breaker(ANY_TROUBLE, 10, "went wrong in one way or another without a new state", no_news=True),
)


def agent_failing(history: History, _settings: Settings, _moment: Moment) -> Stop | None:
    """Stop when one of the breakers is full."""
    newest = history.newest
    if newest is None or newest.outcome not in ANY_TROUBLE or _is_relieved(history, newest):
        return None
    for breaker in BREAKERS:
        row = history.tail(breaker.outcomes, no_news=breaker.no_news)
        if len(row) >= breaker.limit:
            return _stop(breaker, row[-breaker.limit :])
    return None


def _is_relieved(history: History, newest: Iteration) -> bool:
    """Return whether this agent is out and another works on."""
    at = history.relay.at
    return at is not None and history.relay.is_out(newest.agent, at) and history.relay.stand_in() is not None


def _stop(breaker: Breaker, row: tuple[Iteration, ...]) -> Stop:
    numbers = tuple(one.number for one in row)
    last = row[-1]
    how = ", ".join(filter(None, (last.exit, quote(last.detail))))
    hint = "; was it killed for want of memory?" if "signal 9" in last.exit else ""
    return Stop(
        Reason.AGENT_FAILING,
        f"{span(numbers)} {breaker.words}" + (f"; the last: {how}" if how else "") + hint,
        iterations=numbers,
    )
