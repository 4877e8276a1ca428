"""The stretches of design 3.1: how long a run has been without a new state, and where it went meanwhile."""

from __future__ import annotations

from collections import deque

from ralph.facts.settings import StopRules
from ralph.judge.step import Kind, Step

RESEARCH_LIMIT = 8
"""So many soft or known-state iterations in a row are too many, however much was read."""


class Stretch:
    """Folds steps; every window holds just as many as its rule needs, so a full window is the evidence.

    resting: ended in one known state and visited no other. known: ended in known states, any. wandering: known or
    soft. moving: the latest steps that moved the tree, new ones too.
    """

    def __init__(self, rules: StopRules) -> None:
        self._rules = rules
        rest = max(1, rules.no_progress or 3)
        self.turns_back = max(2, rules.oscillation or 3)  # one return never stops, whatever was asked for
        self.resting: deque[Step] = deque(maxlen=rest)
        self.known: deque[Step] = deque(maxlen=self.turns_back)
        self.wandering: deque[Step] = deque(maxlen=max(RESEARCH_LIMIT, rest))
        self.moving: deque[Step] = deque(maxlen=2 * self.turns_back - 1)

    def add(self, step: Step) -> None:
        """Take the next step."""
        if step.kind is Kind.VOID:
            return
        if step.kind is Kind.SOFT:
            self.wandering.append(step)
            return
        if step.moved:
            self.moving.append(step)
        if not step.known:
            self._end()
            return
        self.wandering.append(step)
        self.known.append(step)
        self._rest(step)

    def restart(self) -> None:
        """Forget all stretches; what states the run has had is not forgotten (that is `SeenStates`)."""
        self._end()
        self.moving.clear()

    def words(self) -> str:
        """Return how far the run is on the way to a stop for want of progress, "" where it is not (R041)."""
        parts = []
        if self._rules.no_progress is not None and self.resting:
            parts.append(f"{len(self.resting)}/{self.resting.maxlen} without progress")
        if self._rules.oscillation is not None and len(self.known) > len(self.resting):
            parts.append(f"{len(self.known)}/{self.known.maxlen} in known states")
        return ", ".join(parts)

    def _end(self) -> None:
        self.resting.clear()
        self.known.clear()
        self.wandering.clear()

    def _rest(self, step: Step) -> None:
        # An idle iteration rests wherever others (the user, the test step) have put it.
        same = bool(self.resting) and self.resting[-1].key == step.key
        if step.kind is Kind.RETURN and not same:
            self.resting.clear()
        if step.kind is Kind.IDLE or len(step.places) == 1:
            self.resting.append(step)
        else:
            self.resting.clear()
