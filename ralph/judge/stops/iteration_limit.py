"""The iterations are used up."""

from __future__ import annotations

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History


def iteration_limit(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop when so many iterations have been started, void ones included."""
    cap = settings.limits.iterations
    if cap is None or history.count < cap:
        return None
    only = "" if history.step is None else f"; the last ended as {history.step.kind.value}"
    return Stop(Reason.ITERATION_LIMIT, f"{history.count} of {cap} iterations are used{only}")
