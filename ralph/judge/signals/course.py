"""The course of one stream: turns, epochs, and how much news each turn brought. Every detector stands on this.

A *turn* is one model response; calls chosen together count once. An *epoch* begins with each accepted change.
Polling, bookkeeping and void calls neither count nor break anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ralph.judge.signals.recent import Met, Recent
from ralph.judge.signals.step import Step
from ralph.judge.signals.tools import is_bookkeeping

RESULTS_KEPT = 768
CALLS_KEPT = 384
CALLS_OF_A_TURN = 64

NEWS, NEW_ERROR, HARDLY, NONE = 1.0, 0.5, 0.25, 0.0


@dataclass(frozen=True, slots=True)
class Counted:
    """One call that counts.

    turn: ordinal of the counted turn, from 1. known: the result was met before. news: turns with news so far.
    """

    step: Step
    turn: int
    epoch: int
    known: bool
    novelty: float
    news: int = 0

    @property
    def key(self) -> str | None:
        """Return what stands for arguments and result, None where it equals nothing.

        An unknown result of a call that only reads is what it was, as long as nothing is changed.
        """
        step = self.step
        if step.args is None or (step.result is None and step.changed is not False):
            return None
        return f"{step.args}>{step.result}"

    @property
    def stands_still(self) -> bool:
        """Return whether the result is an error or was met before, and nothing was changed."""
        return (self.step.failed or self.known) and not self.step.accepted


@dataclass(slots=True)
class Turn:
    """One model response as far as it counts."""

    number: int
    turn: int
    epoch: int
    calls: list[Counted] = field(default_factory=list)
    novelty: float = 0.0
    closed: bool = False

    def add(self, call: Counted) -> None:
        """Take one more call."""
        self.novelty = max(self.novelty, call.novelty)
        if len(self.calls) < CALLS_OF_A_TURN:
            self.calls.append(call)

    @property
    def key(self) -> str | None:
        """Return what stands for the set of calls with their results, None where any of it is not known."""
        pairs = {f"{call.step.args}>{call.step.result}" for call in self.calls}
        if any(call.step.args is None or call.step.result is None for call in self.calls):
            return None
        return "|".join(sorted(pairs))

    @property
    def steps(self) -> tuple[int, ...]:
        """Return the numbers of its steps."""
        return tuple(call.step.index for call in self.calls)


class Course:
    """Folds the steps of one stream."""

    def __init__(self) -> None:
        self.epoch = 0
        self.turns = 0
        self._news = 0
        self._prompt: int | None = None
        self._turn: Turn | None = None
        self._results, self._errors, self._changes = Met(RESULTS_KEPT), Met(CALLS_KEPT), Met(CALLS_KEPT)
        self._calls: Recent[int] = Recent(CALLS_KEPT)

    def begins_anew(self, step: Step) -> bool:
        """Return whether a new prompt, or a compaction, comes before this step; then everything is forgotten."""
        anew = self._prompt is not None and step.prompt != self._prompt
        self._prompt = step.prompt
        if anew:
            self._turn = None
            for memory in (self._results, self._errors, self._changes, self._calls):
                memory.clear()
        return anew

    def ended(self, step: Step) -> Iterator[Turn]:
        """Yield the turn before this step's, if it is over only now."""
        turn = self._turn
        if turn is not None and turn.number != step.turn and not turn.closed:
            turn.closed = True
            yield turn

    def count(self, step: Step) -> Counted | None:
        """Return the step as it counts, None where it does not."""
        if step.poll or step.void or step.denied or is_bookkeeping(step.tool):
            return None
        if self._turn is None or self._turn.number != step.turn:
            self.turns += 1
            self._turn = Turn(step.turn, self.turns, self.epoch)
        if step.accepted:
            self.epoch += 1
        known = step.result is not None and step.result in (self._errors if step.failed else self._results)
        novelty = self._novelty(step)
        self._news += novelty >= NEWS > self._turn.novelty
        call = Counted(step, self._turn.turn, self.epoch, known, novelty, self._news)
        self._turn.add(call)
        return call

    def closed(self, step: Step) -> Iterator[Turn]:
        """Yield this step's turn, if the step is the last of it."""
        turn = self._turn
        if step.closes and turn is not None and turn.number == step.turn and not turn.closed:
            turn.closed = True
            yield turn

    def _novelty(self, step: Step) -> float:
        """Return how much news a call brings, and remember it. Source of the weights: detection.md 2.3."""
        ran = self._calls.get(step.args) if step.args is not None else None
        if step.args is not None:
            self._calls.put(step.args, self.epoch)
        if step.result is None:
            # Nobody can tell; but a second read, while nothing is changed, gives what the first gave.
            return NONE if step.changed is False and ran == self.epoch else NEWS
        if step.failed:
            return NEW_ERROR if self._errors.add(step.result) else NONE
        fresh = self._results.add(step.result)
        if step.accepted:
            return NEWS if step.args is None or self._changes.add(step.args) else HARDLY
        if fresh or (step.args is None and step.changed is not False):
            return NEWS
        if step.changed is None and ran is not None and ran < self.epoch:
            return NEWS  # a test run again after a change is news even if its answer is the old one
        return HARDLY if step.short and ran is None else NONE
