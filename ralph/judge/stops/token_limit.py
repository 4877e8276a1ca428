"""The tokens are used up, or nobody counts them."""

from __future__ import annotations

from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History


def token_limit(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop when the cap is reached, or when an agent has completed an iteration and told no tokens, ever."""
    cap = settings.limits.tokens
    if cap is None:
        return None
    totals, newest = history.totals, history.newest
    if totals.tokens is not None and totals.tokens >= cap:
        least = "at least " if totals.tokens_at_least else ""
        return Stop(Reason.TOKEN_LIMIT, f"used {least}{totals.tokens:,} of {cap:,} tokens")
    if totals.tokens is None and newest is not None and newest.outcome is Outcome.COMPLETED:
        return Stop(
            Reason.TOKEN_LIMIT,
            f"tokens unknown: the agent does not tell how many it uses, so {cap:,} cannot be kept",
            iterations=(newest.number,),
        )
    return None
