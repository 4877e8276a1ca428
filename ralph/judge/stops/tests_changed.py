"""Green, but tests changed: the gates hold, a finding keeps the run from being done, and nobody moves any more."""

from __future__ import annotations

from dataclasses import replace

from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.gates import resting_green
from ralph.judge.history import History


def tests_changed(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop when all gates hold over a blocking finding and the tree has rested for two iterations."""
    newest, step, rested = history.newest, history.step, history.rested
    if newest is None or step is None:
        return None
    stop = resting_green(
        settings,
        newest.gates,
        findings=newest.findings,
        baseline_green=history.baseline_green,
        rested=len(rested),
    )
    if stop is None:
        return None
    detail = f"{stop.detail}; look at the change, then give --allow-test-changes or --accept-findings"
    return replace(stop, detail=detail, iterations=rested, states=(step.state,))
