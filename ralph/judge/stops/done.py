"""Every gate holds, asked by ralph on this very tree."""

from __future__ import annotations

from dataclasses import replace

from ralph.facts.outcome import Outcome
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.gates import is_done
from ralph.judge.history import History


def done(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop when the newest iteration's gates hold; an unverified claim counts only from an agent that completed."""
    newest, step = history.newest, history.step
    if newest is None or step is None:
        return None
    stop = is_done(settings, newest.gates, findings=newest.findings, baseline_green=history.baseline_green)
    # A usage limit whose text looks like a result must not end the run (R063).
    if stop is None or (not stop.verified and newest.outcome is not Outcome.COMPLETED):
        return None
    return replace(stop, iterations=(newest.number,), states=(step.state,))
