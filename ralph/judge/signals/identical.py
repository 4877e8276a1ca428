"""D1, identical repeat: the same arguments and the same result, turn after turn, and nothing was changed between."""

from __future__ import annotations

from ralph.judge.signals.course import Counted
from ralph.judge.signals.recent import Recent
from ralph.judge.signals.streak import Detector, Row, Streak

WINDOW = 20
KEPT = 256


class Identical(Detector):
    """Counts distinct turns of the last 20, in one epoch. A result that is not known equals nothing."""

    def __init__(self) -> None:
        self._epoch = 0
        self._rows: Recent[list[Row]] = Recent(KEPT)

    def call(self, call: Counted) -> Streak | None:
        """Take a call."""
        if call.epoch != self._epoch:
            self._epoch = call.epoch
            self._rows.clear()
        step = call.step
        if step.args is None or step.result is None:
            return None
        key = f"{step.args}>{step.result}"
        rows = [row for row in self._rows.get(key) or [] if row.turn > call.turn - WINDOW]
        if not rows or rows[-1].turn != call.turn:
            rows.append(Row())
        rows[-1].add(call)
        rows = rows[-WINDOW:]
        self._rows.put(key, rows)
        steps = tuple(row.steps[0] for row in rows)
        words = f"the same call with the same result {len(rows)} times"
        # Beside more turns with news than repeats, the agent gets on: a call it keeps coming back to is weak evidence.
        weak = call.news - rows[0].news > len(rows)
        return Streak(f"{key}@{call.epoch}", len(rows), steps, words, weak=weak, calls=frozenset({step.args}))

    def restart(self) -> None:
        """Forget everything."""
        self._rows.clear()
