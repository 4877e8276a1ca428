"""The agent gave up honestly."""

from __future__ import annotations

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.words import quote


def blocked(history: History, _settings: Settings, _moment: Moment) -> Stop | None:
    """Stop when the newest iteration called `ralph blocked`."""
    newest = history.newest
    if newest is None or newest.blocked is None:
        return None
    needed, tried = newest.blocked.needed, "; ".join(newest.blocked.tried[:3])
    return Stop(
        Reason.BLOCKED,
        f"the agent is blocked in iteration {newest.number} and needs: {quote(needed)} (tried: {quote(tried)})",
        iterations=(newest.number,),
    )
