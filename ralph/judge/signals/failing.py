"""D2, failing tool: the same tool fails again and again, whatever the arguments, and no change went through between.

D2b, same error: the same with one and the same error text. D12, malformed calls: the same with calls that are none.
"""

from __future__ import annotations

from collections.abc import Callable

from ralph.judge.signals.course import Counted
from ralph.judge.signals.recent import Recent
from ralph.judge.signals.step import Step
from ralph.judge.signals.streak import Detector, Row, Streak

KEPT = 64


class Failing(Detector):
    """Counts turns in which calls of one kind failed. A success of the tool, or an accepted change, ends the row.

    key: what makes failures the same kind, None for those that are not looked for.
    """

    def __init__(self, key: Callable[[Step], str | None], words: str) -> None:
        self._key = key
        self._words = words
        self._rows: Recent[Row] = Recent(KEPT)
        self._tools: Recent[tuple[str, ...]] = Recent(KEPT)
        self._born = 0

    def call(self, call: Counted) -> Streak | None:
        """Take a call."""
        step = call.step
        if step.accepted:
            self.restart()
        elif not step.failed:
            self._succeed(step.tool)
        return self._fail(call) if step.failed else None

    def restart(self) -> None:
        """Forget everything."""
        self._rows.clear()
        self._tools.clear()

    def _succeed(self, tool: str) -> None:
        for key in self._tools.get(tool) or ():
            self._rows.drop(key)
        self._tools.drop(tool)

    def _fail(self, call: Counted) -> Streak | None:
        key = self._key(call.step)
        if key is None:
            return None
        row = self._rows.get(key)
        if row is None:
            row = Row()
            self._rows.put(key, row)
            keys = self._tools.get(call.step.tool) or ()
            self._tools.put(call.step.tool, (*keys[-7:], key))
        row.add(call)
        if row.count < 2:
            return None
        words = self._words.format(count=row.count)
        weight = 2 if row.gets_on(call) else 1
        name = f"{key}@{row.steps[0]}"
        return Streak(name, row.count, tuple(row.steps), words, weight=weight, calls=frozenset(row.calls))


def failing() -> Failing:
    """Return the detector of a tool that keeps failing."""
    return Failing(lambda step: step.tool, "the same tool failed in {count} turns, and nothing was changed between")


def same_error() -> Failing:
    """Return the detector of one error text that keeps coming."""
    return Failing(
        lambda step: f"{step.tool}>{step.result}" if step.result is not None else None,
        "the same tool failed with the same error in {count} turns",
    )


def malformed() -> Failing:
    """Return the detector of calls that name no tool or have no valid arguments."""
    return Failing(lambda step: "malformed" if step.malformed else None, "{count} turns with calls that are not valid")
