"""The one place that decides what is said to an agent while it works, whatever lane carries it (design 3.2).

Per loop: a nudge once, then the looping call is denied, then the turn ends: further calls are refused with a request
to write down what there is, for at most two model turns or a minute, then the agent is ended.
"""

from __future__ import annotations

from collections.abc import Callable

from ralph.facts.ending import Cut, Why
from ralph.facts.event import Event, Finished, Said, ToolCalled
from ralph.facts.finding import Signal
from ralph.facts.settings import Detect
from ralph.facts.steer import ALLOW, Answer, Asked, Moment
from ralph.judge.signals.sighting import Level, Sighting
from ralph.judge.signals.step import Step
from ralph.judge.signals.steps import StepMaker
from ralph.judge.signals.watch import Look, Watch

LAST_TURNS = 2
LAST_S = 60.0
ENDING = "stop: write what you have and what is missing, then finish. No further tool calls are run in this turn."
AGAIN = "refused again, for the reason given before"
Words = Callable[[Sighting], str]
"""Says a sighting to the agent."""


class Steering:
    """Follows one iteration's events and answers its lanes.

    words: makes the advice. laned: there is a lane that can answer. advises: moments at which it can put advice without
    refusing the call. look: what stands for the work tree now, asked shortly before a denial or an end.
    """

    def __init__(
        self,
        detect: Detect,
        *,
        words: Words,
        laned: bool,
        advises: tuple[Moment, ...] = (),
        root: str = "",
        look: Look | None = None,
    ) -> None:
        self._maker = StepMaker(detect, root=root)
        self._watch = Watch(detect, look=look)
        self._words = words
        self._laned = laned
        self._advises = advises
        self._pending: dict[str, list[str]] = {}
        self._refused: dict[str, int] = {}
        self._unsaid: list[str] = []
        self._denying: list[str] = []
        self._turns: set[str] = set()
        self._ending_at: float | None = None
        self._ending_turns = 0
        self._why = ""
        self.signals: list[Signal] = []
        self.sightings: list[Sighting] = []

    def see(self, event: Event, *, at: float) -> Step | None:
        """Take the next event; return the step it completes. at: awake seconds."""
        if isinstance(event, ToolCalled | Said) and event.turn and event.turn not in self._turns:
            self._turns = {*list(self._turns)[-64:], event.turn}
            self._ending_turns += self._ending_at is not None
        step = self._maker.see(event, at=at)
        found: tuple[Sighting, ...] = ()
        if isinstance(event, Said):
            found = self._watch.said(event.text, stream=event.stream)
        elif step is not None:
            found = self._watch.see(step)
        for sighting in found:
            self._take(sighting, at=at)
        if isinstance(event, Finished):
            self._ending_at = None
        return step

    def answer(self, asked: Asked, *, at: float) -> Answer:
        """Return what to tell a lane about one call. Where the stream has told it already, its word counts."""
        known = self._maker.known(asked.id)
        stream, args = known or (asked.stream, self._maker.asks(asked.tool, asked.args, stream=asked.stream))
        if asked.moment == "after":
            return self._advised(asked.moment, stream)
        if self._ending_at is not None:
            self._maker.refused(asked.id)
            return Answer("deny", ENDING)
        sighting = self._watch.refuses(args, stream=stream)
        if sighting is None:
            return self._advised(asked.moment, stream)
        self._maker.refused(asked.id)
        return self._refusal(sighting, at=at)

    def cut(self, *, at: float) -> Cut | None:
        """Return why the agent is to be ended now: its last turns are used up, or nothing can be said to it."""
        if self._ending_at is None:
            return None
        if self._laned and self._ending_turns < LAST_TURNS and at - self._ending_at < LAST_S:
            return None
        return Cut(Why.LOOPING, self._why)

    def unsaid(self) -> tuple[str, ...]:
        """Return the advice that reached nobody inside the turn: it belongs on the next prompt's note."""
        return (*self._unsaid, *(text for texts in self._pending.values() for text in texts))

    def message(self) -> str:
        """Return pending advice of the main agent as a message of its own, and forget it; "" if there is none."""
        return self._advice("").text

    def shell(self) -> Answer:
        """Return what the agent's next shell command is to be met with; for a lane that sees no call beforehand."""
        if self._ending_at is not None:
            return Answer("deny", ENDING)
        if self._denying:
            return Answer("deny", self._denying.pop())
        return self._advice("")

    def _advised(self, moment: Moment, stream: str) -> Answer:
        return self._advice(stream) if moment in self._advises else ALLOW

    def _advice(self, stream: str) -> Answer:
        texts = self._pending.pop(stream, [])
        return Answer("advise", "\n\n".join(texts)) if texts else ALLOW

    def _take(self, sighting: Sighting, *, at: float) -> None:
        self.sightings.append(sighting)
        self.signals.append(sighting.signal())
        if not sighting.fresh:
            return
        if sighting.level >= Level.END:
            self._end(sighting, at=at)
        elif not self._laned:
            self._unsaid.append(self._words(sighting))
        elif sighting.level is Level.NUDGE:
            self._pending.setdefault(sighting.stream, []).append(self._words(sighting))
        else:
            self._denying = [self._words(sighting)]

    def _refusal(self, sighting: Sighting, *, at: float) -> Answer:
        """Return the advice in full the first time, short after that, and the end of the turn when it goes on."""
        tries = self._refused[sighting.identity] = self._refused.get(sighting.identity, 0) + 1
        if sighting.level >= Level.END:
            self._end(sighting, at=at)
            return Answer("deny", ENDING)
        return Answer("deny", self._words(sighting) if tries == 1 else AGAIN)

    def _end(self, sighting: Sighting, *, at: float) -> None:
        if self._ending_at is None:
            self._ending_at, self._ending_turns, self._why = at, 0, f"{sighting.detector}: {sighting.detail}"
            self._unsaid.append(self._words(sighting))
