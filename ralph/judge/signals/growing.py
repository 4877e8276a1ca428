"""D11, growing command: each command contains the one before it and is longer."""

from __future__ import annotations

from ralph.judge.signals.course import Turn
from ralph.judge.signals.streak import STEPS_KEPT, Detector, Streak


class Growing(Detector):
    """Counts consecutive turns whose command grew out of the previous one; the first of them counts too."""

    def __init__(self) -> None:
        self._last: tuple[int, ...] = ()
        self._steps: list[int] = []
        self._turns = 0

    def turn(self, turn: Turn) -> tuple[Streak, ...]:
        """Take a turn."""
        if not any(call.step.grows for call in turn.calls):
            self._last, self._steps, self._turns = turn.steps, [], 0
            return ()
        if not self._turns:
            self._steps, self._turns = list(self._last), 1
        self._turns += 1
        self._steps = [*self._steps[:1], *[*self._steps[1:], *turn.steps][1 - STEPS_KEPT :]]
        words = f"{self._turns} commands, each the one before with something added"
        return (Streak(f"growing@{self._steps[0]}", self._turns, tuple(self._steps), words),)

    def restart(self) -> None:
        """Forget everything."""
        self._last, self._steps, self._turns = (), [], 0
