"""The limits of one running child: which is passed, and how long until the next could be."""

from __future__ import annotations

from ralph.facts.ending import Cut, Why
from ralph.facts.job import TimeRules
from ralph.process.silence import Silence

RECHECK_S = 20.0
"""Longest sleep with a boot-time deadline: a selector does not count suspension, so we look soon after waking up."""


class Limits:
    """now: awake seconds; real: boot-time seconds. began: awake second of the start."""

    def __init__(self, rules: TimeRules, silence: Silence, *, began: float) -> None:
        self._rules = rules
        self._silence = silence
        self._total_at = None if rules.total_s is None else began + rules.total_s
        self._linger_at: float | None = None

    def heard(self, now: float) -> None:
        """Note that the child printed something."""
        self._silence.heard(now)

    def finished(self, now: float) -> None:
        """Note that the terminal event was seen; the linger limit runs from the first time on."""
        if self._linger_at is None:
            self._linger_at = now + self._rules.linger_s

    def cut(self, now: float, real: float) -> Cut | None:
        """Return the end that a passed limit asks for."""
        rules = self._rules
        if rules.deadline_s is not None and real >= rules.deadline_s:
            return Cut(Why.DEADLINE, "the time of the run is over")
        if self._total_at is not None and now >= self._total_at:
            return Cut(Why.ITERATION_TIME, f"still running after {rules.total_s:g} s")
        if self._linger_at is not None and now >= self._linger_at:
            return Cut(Why.LINGER, f"still running {rules.linger_s:g} s after its last event")
        if self._silence.is_hung(now):
            return Cut(Why.IDLE, f"no output and no work for {rules.idle_s:g} s")
        return None

    def due_in(self, now: float, real: float) -> float | None:
        """Return the seconds until a limit can next be passed, None if none ever is."""
        points = [at - now for at in (self._total_at, self._linger_at, self._silence.due) if at is not None]
        if self._rules.deadline_s is not None:
            points.append(min(RECHECK_S, self._rules.deadline_s - real))
        return min(points, default=None)
