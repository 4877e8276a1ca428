"""A usage limit, where waiting is off. How long to wait where it is on: `judge/retry.py`."""

from __future__ import annotations

from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.words import quote


def agent_quota(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop at a usage limit when `quota.action` is "stop" and no other agent can go on."""
    newest = history.newest
    if newest is None or newest.outcome is not Outcome.QUOTA or settings.quota.action != "stop":
        return None
    if history.relay.stand_in() is not None:
        return None
    reset = f"it resets at {newest.until.isoformat()}" if newest.until else "no reset time is known"
    said = f": {quote(newest.detail)}" if newest.detail else ""
    return Stop(
        Reason.AGENT_QUOTA,
        f"the agent hit its usage limit in iteration {newest.number}, {reset}, and waiting is off{said}",
        iterations=(newest.number,),
    )
