"""The agent cannot work as it is set up: no login, unknown model, bad flag, a prompt too long for it."""

from __future__ import annotations

from ralph.facts.iteration import Iteration
from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.outcome import CONTEXT_OVERFLOW
from ralph.judge.words import quote, span

AT_ONCE = frozenset({Outcome.AUTH, Outcome.MISCONFIGURED})
OVERFLOWS = 2


def agent_setup(history: History, _settings: Settings, _moment: Moment) -> Stop | None:
    """Stop at the first fault of set-up, and at the second overflow of the context in a row."""
    newest = history.newest
    if newest is None:
        return None
    if newest.outcome in AT_ONCE:
        return _stop((newest,), f"the agent cannot run as it is set up ({newest.outcome.value})")
    if newest.outcome is not Outcome.FAILED:
        return None
    row = history.tail(frozenset({Outcome.FAILED}))[-OVERFLOWS:]
    if len(row) == OVERFLOWS and all(one.detail.startswith(CONTEXT_OVERFLOW) for one in row):
        return _stop(row, f"{span([one.number for one in row])} overflowed the model's context (misconfigured)")
    return None


def _stop(row: tuple[Iteration, ...], why: str) -> Stop:
    said = f": {quote(row[-1].detail)}" if row[-1].detail else ""
    return Stop(Reason.AGENT_AUTH, why + said, iterations=tuple(one.number for one in row))
