"""D4, drift: turn after turn one tool with slightly reworded arguments, and each answer is an error or known."""

from __future__ import annotations

from ralph.judge.signals.course import Turn
from ralph.judge.signals.streak import STEPS_KEPT, Detector, Streak

NEAR = 12
"""Hamming distance of 64-bit simhashes up to which arguments are a rewording."""


class Drift(Detector):
    """Counts consecutive turns. An accepted change, news, another tool or other arguments begin a new row.

    Short answers that are no errors ("nothing found") are weak evidence: so do searches look that find nothing.
    """

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._turns = 0
        self._short = True
        self._began = 0
        self._steps: list[int] = []
        self._calls: list[str] = []

    def turn(self, turn: Turn) -> tuple[Streak, ...]:
        """Take a turn."""
        here = {call.step.tool: call.step.simhash for call in turn.calls if call.step.simhash is not None}
        if not here or not all(call.stands_still for call in turn.calls):
            self.restart()
            return ()
        near = {tool for tool, bits in here.items() if tool in self._last and _is_near(bits, self._last[tool])}
        if not near:
            self.restart()
        self._last = {tool: bits for tool, bits in here.items() if tool in near or not near}
        self._began = self._began if self._turns else turn.steps[0]
        self._turns += 1
        self._short &= all(call.step.short and not call.step.failed for call in turn.calls)
        self._steps = [*self._steps, *turn.steps][-STEPS_KEPT:]
        self._calls = [*self._calls, *(call.step.args for call in turn.calls if call.step.args)][-STEPS_KEPT:]
        return (self._streak(),) if self._turns > 1 else ()

    def restart(self) -> None:
        """Forget everything."""
        self._last, self._turns, self._short, self._steps, self._calls = {}, 0, True, [], []

    def _streak(self) -> Streak:
        words = f"{self._turns} turns with reworded calls of one tool, each answer an error or known already"
        weight, calls = 2 if self._short else 1, frozenset(self._calls)
        name = f"{min(self._last)}@{self._began}"
        return Streak(name, self._turns, tuple(self._steps), words, weight=weight, calls=calls)


def _is_near(one: int, other: int) -> bool:
    return (one ^ other).bit_count() <= NEAR
