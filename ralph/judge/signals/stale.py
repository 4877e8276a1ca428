"""D6, stale window: over several turns hardly anything new came in, whatever was called."""

from __future__ import annotations

from collections import deque

from ralph.judge.signals.course import Turn
from ralph.judge.signals.streak import STEPS_KEPT, Detector, Streak

STALE = 0.2
LONGEST = 64


class Stale(Detector):
    """Counts the longest row of latest turns whose mean novelty is at most 0.2."""

    def __init__(self) -> None:
        self._turns: deque[tuple[float, tuple[int, ...], frozenset[str]]] = deque(maxlen=LONGEST)
        self._began, self._count = 0, 0

    def turn(self, turn: Turn) -> tuple[Streak, ...]:
        """Take a turn."""
        calls = frozenset(call.step.args for call in turn.calls if call.step.args)
        self._turns.append((turn.novelty, turn.steps, calls))
        count, total = 0, 0.0
        for length, (novelty, _, _) in enumerate(reversed(self._turns), 1):
            total += novelty
            count = length if total <= STALE * length else count
        before, self._count = self._count, count
        if count < 2:
            return ()
        row = list(self._turns)[-count:]
        steps = tuple(number for _, numbers, _ in row for number in numbers)
        words = f"{count} turns brought next to nothing new"
        calls = frozenset[str]().union(*(known for _, _, known in row))
        if before < 2:
            self._began = steps[0]
        return (Streak(f"stale@{self._began}", count, steps[-STEPS_KEPT:], words, calls=calls),)

    def restart(self) -> None:
        """Forget everything."""
        self._turns.clear()
        self._count = 0
