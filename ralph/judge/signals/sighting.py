"""What the watch reports: a loop that has come so far that something is to be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ralph.facts.finding import Signal
from ralph.judge.signals.step import Kind


class Level(IntEnum):
    """What is to be done, each more than the one before."""

    NUDGE = 1
    DENY = 2
    END = 3

    @property
    def word(self) -> str:
        """Return "nudge", "deny" or "end"."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Answer:
    """A call and what it gave, short and raw, for advice. step: its number."""

    step: int
    tool: str
    kind: Kind
    call: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A loop at a level it had not reached before.

    identity: detector and key of this loop. steps: the numbers it rests on. detail: one line without foreign text.
    calls: arguments (12 hex) that belong to the loop: what is denied. origin: the first answer of the loop, after
    which it began to turn; None where it lies too far back. answers: the last answer of each call of the loop.
    fresh: no other loop over these steps was reported yet; the others are evidence and need no advice of their own.
    """

    detector: str
    identity: str
    level: Level
    count: int
    steps: tuple[int, ...]
    detail: str
    stream: str = ""
    calls: frozenset[str] = frozenset()
    origin: Answer | None = None
    answers: tuple[Answer, ...] = ()
    fresh: bool = True

    def signal(self) -> Signal:
        """Return it as a fact for the journal."""
        return Signal(self.detector, self.level.word, self.steps, self.detail)
