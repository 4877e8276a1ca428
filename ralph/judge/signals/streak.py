"""What a detector is, and what it reports."""

from __future__ import annotations

from dataclasses import dataclass, field

from ralph.judge.signals.course import Counted, Turn
from ralph.judge.signals.step import Step

STEPS_KEPT = 24


@dataclass(frozen=True, slots=True)
class Streak:
    """How far a loop has come. key: what makes it this loop and no other; count: turns (or what the detector counts).

    steps: numbers of the steps it rests on, oldest first. detail: for people, without foreign text. weight: how
    many times over all thresholds must be reached: 2 for weak evidence. calls: arguments that belong to the loop.
    """

    key: str
    count: int
    steps: tuple[int, ...]
    detail: str
    weight: int = 1
    calls: frozenset[str] = frozenset()


@dataclass(slots=True)
class Row:
    """Steps in distinct turns that share something. turn: the latest. news: turns with news before the first."""

    turn: int = 0
    count: int = 0
    news: int = 0
    steps: list[int] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def add(self, call: Counted) -> None:
        """Take a call; calls of one turn count once."""
        if call.turn != self.turn:
            self.news = call.news if not self.count else self.news
            self.count += 1
            self.turn = call.turn
        if len(self.steps) >= STEPS_KEPT:
            del self.steps[1]  # the first is where it began
        self.steps.append(call.step.index)
        args = call.step.args
        if args is not None and args not in self.calls and len(self.calls) < STEPS_KEPT:
            self.calls.append(args)

    def gets_on(self, call: Counted) -> bool:
        """Return whether the agent works on beside the row."""
        return gets_on(call.news - self.news, self.count)


def gets_on(news: int, count: int) -> bool:
    """Return whether turns with news are more than half as many as those of a loop: then the loop is a side matter.

    Repetition by itself is no evidence; repetition without anything new is.
    """
    return 2 * news > count


class Detector:
    """Looks for one kind of loop in one stream. Those of the hooks below that a kind needs are overridden."""

    def call(self, call: Counted) -> Streak | None:
        """Take a call that counts."""
        return None

    def turn(self, turn: Turn) -> tuple[Streak, ...]:
        """Take a turn that is over and had calls that count."""
        return ()

    def other(self, step: Step) -> Streak | None:
        """Take a step that does not count: polling, refused, bookkeeping."""
        return None

    def restart(self) -> None:
        """Forget everything: a new prompt, or the agent's memory was compacted."""
