"""D7, polling budget: polls count by time, not by number. Real waits reach eighty calls."""

from __future__ import annotations

from dataclasses import dataclass

from ralph.judge.signals.course import Counted
from ralph.judge.signals.recent import Recent
from ralph.judge.signals.step import Step
from ralph.judge.signals.streak import Detector, Streak

POLLS = 20
KEPT = 32
MINUTE_S = 60.0


@dataclass(slots=True)
class Wait:
    """One thing waited for: its unchanged answer, since when, and how many polls."""

    result: str
    since: float
    first: int
    count: int = 0


class PollBudget(Detector):
    """Counts whole minutes of at least 20 polls with an unchanged answer. Any change begins it anew."""

    def __init__(self) -> None:
        self._waits: Recent[Wait] = Recent(KEPT)

    def call(self, call: Counted) -> Streak | None:
        """Take a call: an accepted change ends all waits."""
        if call.step.accepted:
            self._waits.clear()
        return None

    def other(self, step: Step) -> Streak | None:
        """Take a step that does not count; polls are looked at."""
        if not step.poll or step.args is None or step.at is None or step.void:
            return None
        if step.result is None:
            self._waits.drop(step.args)
            return None
        wait = self._waits.get(step.args)
        if wait is None or wait.result != step.result:
            wait = Wait(step.result, step.at, step.index)
            self._waits.put(step.args, wait)
        wait.count += 1
        minutes = int((step.at - wait.since) // MINUTE_S)
        if wait.count < POLLS:
            return None
        words = f"{wait.count} polls in {minutes} min with an unchanged answer"
        name = f"{step.args}@{wait.first}"
        return Streak(name, minutes, (wait.first, step.index), words, calls=frozenset({step.args}))

    def restart(self) -> None:
        """Keep counting: a wait goes on over a compaction."""
