"""D4, drift: turn after turn one tool with slightly reworded arguments, and each answer is an error or known."""

from __future__ import annotations

from ralph.judge.signals.course import Turn
from ralph.judge.signals.streak import STEPS_KEPT, Detector, Streak

NEAR = 12
"""Hamming distance of 64-bit simhashes up to which arguments are a rewording."""


class Drift(Detector):
    """Counts consecutive turns. An accepted change, news, another tool or other arguments begin a new row."""

    def __init__(self) -> None:
        self._tool = ""
        self._simhash = 0
        self._turns = 0
        self._steps: list[int] = []
        self._calls: list[str] = []

    def turn(self, turn: Turn) -> Streak | None:
        """Take a turn."""
        tools = {call.step.tool for call in turn.calls}
        last = turn.calls[-1].step
        if len(tools) != 1 or last.simhash is None or not all(call.stands_still for call in turn.calls):
            self.restart()
            return None
        if last.tool != self._tool or (last.simhash ^ self._simhash).bit_count() > NEAR:
            self.restart()
        self._tool, self._simhash = last.tool, last.simhash
        self._turns += 1
        self._steps = [*self._steps, *turn.steps][-STEPS_KEPT:]
        self._calls = [*self._calls, *(call.step.args for call in turn.calls if call.step.args)][-STEPS_KEPT:]
        words = f"{self._turns} turns with reworded calls of one tool, each answer an error or known already"
        calls = frozenset(self._calls)
        return Streak(f"{last.tool}@{self._steps[0]}", self._turns, tuple(self._steps), words, calls=calls)

    def restart(self) -> None:
        """Forget everything."""
        self._tool, self._turns, self._steps, self._calls = "", 0, [], []
