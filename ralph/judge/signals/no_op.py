"""D3, no-op result: one tool, different arguments, always the same answer, and nothing was changed between."""

from __future__ import annotations

from ralph.judge.signals.course import Counted
from ralph.judge.signals.recent import Recent
from ralph.judge.signals.streak import Detector, Row, Streak

KEPT = 256


class NoOp(Detector):
    """Counts turns of one epoch.

    Answers up to 60 characters are weak evidence, and none once something else is found. An empty one, or that of a
    tool which may have changed something out of sight, is an acknowledgement and no evidence at all.
    """

    def __init__(self) -> None:
        self._epoch = 0
        self._rows: Recent[Row] = Recent(KEPT)

    def call(self, call: Counted) -> Streak | None:
        """Take a call."""
        if call.epoch != self._epoch:
            self._epoch = call.epoch
            self._rows.clear()
        step = call.step
        if step.args is None or step.result is None or step.failed or step.accepted or not step.rlen:
            return None
        if step.short and step.changed is None:
            return None
        key = f"{step.tool}>{step.result}"
        row = self._rows.get(key) or Row()
        if step.short and row.count and call.news > row.news:
            row = Row()
        self._rows.put(key, row)
        row.add(call)
        if row.count < 2 or len(row.calls) < 2:
            return None
        words = f"the same answer in {row.count} turns to {len(row.calls)} different calls of one tool"
        name = f"{key}@{call.epoch}"
        weight = (2 if step.short else 1) * (2 if row.gets_on(call) else 1)
        return Streak(name, row.count, tuple(row.steps), words, weight=weight, calls=frozenset(row.calls))

    def restart(self) -> None:
        """Forget everything."""
        self._rows.clear()
