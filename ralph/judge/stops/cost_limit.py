"""The money is spent, or nobody can say whether it is."""

from __future__ import annotations

from ralph.facts.outcome import VOID
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.facts.usage import Source
from ralph.judge.history import History
from ralph.judge.words import dollars

BLIND = frozenset({Source.HOLD, Source.UNKNOWN})


def cost_limit(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop when the cap is reached, or when there is a cap and nothing to measure the spending by."""
    cap = settings.limits.cost
    if cap is None:
        return None
    totals = history.totals
    spent = totals.cost_micro or 0
    if spent >= cap:
        least = "at least " if totals.at_least else ""
        return Stop(Reason.COST_LIMIT, f"spent {least}{dollars(spent)} of {dollars(cap)}")
    newest = history.newest
    if newest is None or newest.outcome in VOID or settings.limits.cost_per_iteration is not None:
        return None
    if newest.spent.charge.source in BLIND and not history.cost_was_told:
        return Stop(
            Reason.COST_LIMIT,
            f"cost unknown: nothing told what iteration {newest.number} cost, so {dollars(cap)} cannot be kept; "
            "give --cost-per-iteration",
            iterations=(newest.number,),
        )
    return None
