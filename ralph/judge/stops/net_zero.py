"""Much is written and nothing is left of it, and the tests fail as before."""

from __future__ import annotations

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.churn import TO_AND_FRO
from ralph.judge.history import History
from ralph.judge.words import span


def net_zero(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop when six moves of 40 lines or more leave a tenth of them, over the same failing tests."""
    churn = history.churn
    if settings.stop.oscillation is None or not churn.passed or churn.passed[-1].number != history.count:
        return None
    net = churn.net
    if net is None or net > TO_AND_FRO or not churn.failing_stayed:
        return None
    numbers = tuple(one.number for one in churn.passed)
    lines = sum(one.gross for one in churn.passed)
    failing = tuple(sorted(churn.passed[-1].failing or ())[:20])
    detail = (
        f"{span(numbers)} added and removed {lines} lines, of which {net:.0%} are left, over the same failing tests"
    )
    return Stop(Reason.OSCILLATION, detail, iterations=numbers, tests=failing)
