"""D1, identical repeat: the same arguments and the same result, turn after turn, and nothing was changed between."""

from __future__ import annotations

from dataclasses import dataclass

from ralph.judge.signals.course import NEWS, Counted, Turn
from ralph.judge.signals.recent import Recent
from ralph.judge.signals.streak import Detector, Streak, gets_on

WINDOW = 20
KEPT = 256


@dataclass(frozen=True, slots=True)
class Again:
    """One time the call was made. news: turns with news up to then."""

    turn: int
    step: int
    news: int


class Identical(Detector):
    """Counts turns of the last 20, in one epoch, that brought no news beside the repeated call.

    A result that is not known equals nothing, but for a call that only reads: while nothing is changed it brings what
    it brought, and is weak evidence.
    """

    def __init__(self) -> None:
        self._epoch = 0
        self._rows: Recent[tuple[Again, ...]] = Recent(KEPT)

    def turn(self, turn: Turn) -> tuple[Streak, ...]:
        """Take a turn."""
        epoch = turn.calls[-1].epoch
        if epoch != self._epoch:
            self._epoch = epoch
            self._rows.clear()
        news = [call for call in turn.calls if call.novelty >= NEWS]
        alone = [call for call in turn.calls if not news or news == [call]]
        found = {call.key: streak for call in alone if (streak := self._streak(call)) is not None}
        return tuple(found.values())

    def restart(self) -> None:
        """Forget everything."""
        self._rows.clear()

    def _streak(self, call: Counted) -> Streak | None:
        key, step = call.key, call.step
        if key is None or step.args is None or call.epoch != self._epoch:
            return None
        row = tuple(one for one in self._rows.get(key) or () if call.turn - WINDOW < one.turn < call.turn)
        row = (*row, Again(call.turn, step.index, call.news))
        self._rows.put(key, row)
        count = len(row)
        if count < 2:
            return None
        weight = (2 if gets_on(call.news - row[0].news, count) else 1) * (1 if step.result is not None else 2)
        words = f"the same call with the same result {count} times"
        steps = tuple(one.step for one in row)
        return Streak(f"{key}@{call.epoch}", count, steps, words, weight=weight, calls=frozenset({step.args}))
