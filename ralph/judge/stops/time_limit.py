"""The time of the run is over."""

from __future__ import annotations

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.words import lasting


def time_limit(_history: History, settings: Settings, moment: Moment) -> Stop | None:
    """Stop when the deadline of `limits.time` or `limits.until` has come."""
    over = moment.left_s is not None and moment.left_s <= 0
    long = settings.limits.time is not None and moment.up_s >= settings.limits.time
    if not over and not long:
        return None
    until = f" (until {settings.limits.until})" if settings.limits.until else ""
    return Stop(Reason.TIME_LIMIT, f"the run has lasted {lasting(moment.up_s)}{until}")
