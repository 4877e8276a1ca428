"""What deciding a recorded run again under other thresholds comes to."""

from __future__ import annotations

from dataclasses import dataclass

from ralph.facts.run import Best, Stop, Totals


@dataclass(frozen=True, slots=True)
class Rest:
    """What the record holds behind the stop: what it would have saved, and what it would have cut short.

    new_states: numbers of iterations that reached a state the run never had. best: the best iteration, where it lies
    behind the stop and is better than any before. done: the run came to its goal there.
    """

    totals: Totals
    new_states: tuple[int, ...] = ()
    best: Best | None = None
    done: bool = False

    @property
    def is_loss(self) -> bool:
        """Return whether the stop would have cut something short."""
        return bool(self.new_states) or self.best is not None or self.done


@dataclass(frozen=True, slots=True)
class Inside:
    """An iteration that would have been ended in its middle. used, saved: of `unit`, up to the end and behind it."""

    number: int
    why: str
    used: float
    saved: float
    unit: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """The answer. stop: None where no recorded iteration ends it; after: the last iteration before it, 0 without any.

    iterations: how many the record has. totals: up to the stop.
    """

    stop: Stop | None
    after: int
    iterations: int
    totals: Totals
    rest: Rest
    inside: tuple[Inside, ...] = ()
