"""D10, sweep: one file is read again and again, piece by piece, until it was covered twice."""

from __future__ import annotations

from dataclasses import dataclass

from ralph.judge.signals.course import Counted
from ralph.judge.signals.recent import Recent
from ralph.judge.signals.streak import Detector, Streak

KEPT = 64


@dataclass(slots=True)
class Pages:
    """What was read of one file. Lines of all reads together, and the part of the file they lie in."""

    first_step: int
    low: int
    high: int
    reads: int = 0
    lines: int = 0


class Sweep(Detector):
    """Counts the reads of one file in one epoch, once they have covered what they cover twice."""

    def __init__(self) -> None:
        self._epoch = 0
        self._files: Recent[Pages] = Recent(KEPT)

    def call(self, call: Counted) -> Streak | None:
        """Take a call."""
        if call.epoch != self._epoch:
            self._epoch = call.epoch
            self._files.clear()
        step = call.step
        if step.span is None or step.target is None or step.failed:
            return None
        first, last = step.span
        pages = self._files.get(step.target) or Pages(step.index, first, last)
        self._files.put(step.target, pages)
        pages.low, pages.high = min(pages.low, first), max(pages.high, last)
        pages.reads += 1
        pages.lines += last - first + 1
        if pages.lines < 2 * (pages.high - pages.low + 1):
            return None
        words = f"{pages.reads} reads of one file, {pages.lines} lines in all of {pages.high - pages.low + 1}"
        return Streak(f"{step.target}@{call.epoch}", pages.reads, (pages.first_step, step.index), words)

    def restart(self) -> None:
        """Forget everything."""
        self._files.clear()
