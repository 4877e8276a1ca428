"""D13, denied calls: the agent's permissions refuse the same thing again. It is blocked, not stuck."""

from __future__ import annotations

from ralph.judge.signals.recent import Recent
from ralph.judge.signals.step import Step
from ralph.judge.signals.streak import STEPS_KEPT, Detector, Streak

KEPT = 64


class Denied(Detector):
    """Counts turns in which one tool on one target (file or program) was refused."""

    def __init__(self) -> None:
        self._rows: Recent[list[tuple[int, int]]] = Recent(KEPT)

    def other(self, step: Step) -> Streak | None:
        """Take a step that does not count; refused ones are looked at."""
        if not step.denied or step.void:
            return None
        key = f"{step.tool}>{step.target}"
        row = self._rows.get(key) or []
        if not row or row[-1][0] != step.turn:
            row = [*row, (step.turn, step.index)][-STEPS_KEPT:]
        self._rows.put(key, row)
        words = f"blocked: permission, refused in {len(row)} turns"
        return Streak(key, len(row), tuple(number for _, number in row), words)
