"""What a detector is, and what it reports."""

from __future__ import annotations

from dataclasses import dataclass, field

from ralph.judge.signals.course import Counted, Turn
from ralph.judge.signals.step import Step

STEPS_KEPT = 24


@dataclass(frozen=True, slots=True)
class Streak:
    """How far a loop has come. key: what makes it this loop and no other; count: turns (or what the detector counts).

    steps: numbers of the steps it rests on, oldest first. detail: for people, without foreign text. weak: weak
    evidence, all thresholds doubled. calls: arguments that belong to the loop.
    """

    key: str
    count: int
    steps: tuple[int, ...]
    detail: str
    weak: bool = False
    calls: frozenset[str] = frozenset()


@dataclass(slots=True)
class Row:
    """Steps in distinct turns that share something."""

    turn: int = 0
    count: int = 0
    news: int = 0
    steps: list[int] = field(default_factory=list)
    calls: set[str] = field(default_factory=set)

    def add(self, call: Counted) -> None:
        """Take a call; calls of one turn count once."""
        if call.turn != self.turn:
            self.news = call.news if not self.count else self.news
            self.count += 1
            self.turn = call.turn
        if len(self.steps) >= STEPS_KEPT:
            del self.steps[1]  # the first is where it began
        self.steps.append(call.step.index)
        if call.step.args is not None and len(self.calls) < STEPS_KEPT:
            self.calls.add(call.step.args)


class Detector:
    """Looks for one kind of loop in one stream. Those of the hooks below that a kind needs are overridden."""

    def call(self, call: Counted) -> Streak | None:
        """Take a call that counts."""
        return None

    def turn(self, turn: Turn) -> Streak | None:
        """Take a turn that is over and had calls that count."""
        return None

    def other(self, step: Step) -> Streak | None:
        """Take a step that does not count: polling, refused, bookkeeping."""
        return None

    def restart(self) -> None:
        """Forget everything: a new prompt, or the agent's memory was compacted."""
