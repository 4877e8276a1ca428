"""D5, cycle: a block of two to six turns comes again, call by call and result by result. D8, fan-out: of one turn.

Changes inside the block do not end it: to do and undo is a cycle as well.
"""

from __future__ import annotations

from collections import deque
from itertools import islice

from ralph.judge.signals.course import Turn
from ralph.judge.signals.streak import STEPS_KEPT, Detector, Streak

LONGEST = 6
BLOCKS = 3


class Cycle(Detector):
    """Counts how often the block of the last turns has come, for the shortest period that fits."""

    def __init__(self, periods: tuple[int, ...]) -> None:
        self._runs = dict.fromkeys(periods, 0)
        self._keys: deque[str | None] = deque(maxlen=LONGEST)
        self._turns: deque[Turn] = deque(maxlen=LONGEST * BLOCKS)

    def turn(self, turn: Turn) -> tuple[Streak, ...]:
        """Take a turn."""
        key = turn.key
        self._turns.append(turn)
        for period in self._runs:
            same = key is not None and len(self._keys) >= period and self._keys[-period] == key
            self._runs[period] = self._runs[period] + 1 if same else 0
        self._keys.append(key)
        found = (streak for period in self._runs if (streak := self._streak(period)) is not None)
        return tuple(islice(found, 1))

    def restart(self) -> None:
        """Forget everything."""
        self._runs = dict.fromkeys(self._runs, 0)
        self._keys.clear()
        self._turns.clear()

    def _streak(self, period: int) -> Streak | None:
        blocks = self._runs[period] // period + 1
        block = list(self._keys)[-period:]
        if blocks < 2 or (period > 1 and len(set(block)) == 1):
            return None
        turns = list(self._turns)[-period * min(blocks, BLOCKS) :]
        steps = tuple(number for turn in turns for number in turn.steps)
        calls = {call.step.args for turn in turns[-period:] for call in turn.calls if call.step.args}
        words = (
            f"the same {period} turns {blocks} times over" if period > 1 else f"the same set of calls {blocks} times"
        )
        # All rotations are one loop: blocking one half of a ping-pong must not make the other a new one.
        name = f"{period}:" + "/".join(sorted(filter(None, block)))
        weight = 2 if period == 1 and len(turns[-1].calls) == 1 else 1  # "identical" looks closer at single calls
        return Streak(name, blocks, steps[-STEPS_KEPT:], words, weight=weight, calls=frozenset(calls))


def cycle() -> Cycle:
    """Return the detector of cycles of two to six turns."""
    return Cycle((2, 3, 4, 5, 6))


def fan_out() -> Cycle:
    """Return the detector of one turn that is repeated."""
    return Cycle((1,))
