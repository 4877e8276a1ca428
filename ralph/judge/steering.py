"""The one place that decides what is said to an agent while it works, whatever lane carries it (design 3.2).

Per loop: a nudge once, then the looping call is denied, then the turn ends: further calls are refused with a request
to write down what there is, for at most two model turns or a minute, then the agent is ended.
"""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import replace

from ralph.facts.ending import Cut, Why
from ralph.facts.event import Event, Finished, Said, ToolCalled, ToolReturned
from ralph.facts.finding import Signal
from ralph.facts.settings import Detect
from ralph.facts.steer import ALLOW, Answer, Asked, Moment
from ralph.judge.signals.sighting import Level, Sighting
from ralph.judge.signals.step import Step
from ralph.judge.signals.steps import StepMaker
from ralph.judge.signals.watch import REFUSALS, Look, Watch

LAST_TURNS = 2
LAST_CALLS = 8
"""Refused calls after which the turn is over where refusals do not show in the stream, so that no turn is counted."""
LAST_S = 60.0
ENDING = "stop: write what you have and what is missing, then finish. No further tool calls are run in this turn."
TEXTS_KEPT = 16
CALLS_KEPT = 256
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
        self._ending_calls = 0
        self._advised_texts: deque[str] = deque(maxlen=TEXTS_KEPT)
        self._refusal_texts: deque[str] = deque(maxlen=TEXTS_KEPT)
        self._refused_calls: deque[str] = deque(maxlen=CALLS_KEPT)
        self._refusals = 0
        self._why = ""
        self._by_shell = False
        self._barred: Sighting | None = None
        self._tried = False
        self._commands: OrderedDict[str, str] = OrderedDict()
        self.signals: list[Signal] = []
        self.sightings: list[Sighting] = []

    def heard(self, event: Event) -> Event:
        """Return the event without what we said: our words are no news of the agent's, our refusals no permission's."""
        if not isinstance(event, ToolReturned) or not (self._advised_texts or self._refusal_texts):
            return event
        if event.id in self._refused_calls or any(text in event.result for text in self._refusal_texts):
            self._maker.refused(event.id)
            self._tried = self._barred is not None
            self._refusals += self._by_shell
            return replace(event, denied=False)
        result = event.result
        for text in self._advised_texts:
            result = result.replace(f"{text}\n", "").replace(text, "")
        return event if result == event.result else replace(event, result=result)

    def see(self, event: Event, *, at: float) -> Step | None:
        """Take the next event; return the step it completes. at: awake seconds."""
        if isinstance(event, ToolCalled | Said) and event.turn and event.turn not in self._turns:
            self._turns = {*list(self._turns)[-64:], event.turn}
            self._ending_turns += self._ending_at is not None
        if isinstance(event, ToolCalled) and self._by_shell:
            self._note_command(event)
        step = self._maker.see(event, at=at)
        if self._barred is not None and step is not None:
            self._tell_barred(self._barred, step, at=at)
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
            self._refusals += 1
            self._ending_calls += 1
            return self._denied(ENDING, call=asked.id)
        sighting = self._watch.refuses(args, stream=stream)
        if sighting is None:
            return self._advised(asked.moment, stream)
        self._refusals += 1
        return self._denied(self._refusal(sighting, at=at), call=asked.id)

    def cut(self, *, at: float) -> Cut | None:
        """Return why the agent is to be ended now: its last turns are used up, or nothing can be said to it."""
        if self._ending_at is None:
            return None
        used_up = self._ending_turns >= LAST_TURNS or self._ending_calls >= LAST_CALLS
        if self._laned and not used_up and at - self._ending_at < LAST_S:
            return None
        return Cut(Why.LOOPING, self._why)

    def account(self) -> tuple[Signal, ...]:
        """Return the signals so far, the last one with the number of refused calls: agents do not always show those."""
        if not self._refusals or not self.signals:
            return tuple(self.signals)
        *others, last = self.signals
        return (*others, replace(last, detail=f"{last.detail}; calls refused by ralph: {self._refusals}"))

    def unsaid(self) -> tuple[str, ...]:
        """Return the advice that reached nobody inside the turn: it belongs on the next prompt's note."""
        return (*self._unsaid, *(text for texts in self._pending.values() for text in texts))

    def message(self) -> str:
        """Return pending advice of the main agent as a message of its own, and forget it; "" if there is none."""
        return self._advice("").text

    def shell(self) -> Answer:
        """Return what the agent's next shell command is to be met with; for a lane that sees no call beforehand."""
        if self._ending_at is not None:
            return self._denied(ENDING)
        if self._denying:
            return self._denied(self._denying.pop())
        return self._advice("")

    def command(self) -> Answer:
        """Return how the agent's shell commands are met from now on; for a lane that cannot ask about each."""
        self._by_shell = True
        if self._ending_at is not None:
            return self._denied(ENDING)
        if self._barred is None:
            return self._advice("")
        only = tuple(self._commands[args] for args in self._barred.calls if args in self._commands)
        if only:
            return replace(self._denied(self._words(self._barred)), only=only)
        # No command of the shell can be refused for it; but it can be told.
        text, self._barred = self._words(self._barred), None
        self._advised_texts.append(text)
        return Answer("advise", text)

    def _note_command(self, event: ToolCalled) -> None:
        """Remember the text of a shell command by the hash that loops know it by."""
        try:
            told = json.loads(event.args or "")
        except (ValueError, RecursionError):
            return
        command = told.get("command") if isinstance(told, dict) else None
        args = self._maker.asks(event.name, event.args, stream=event.stream)
        if isinstance(command, str) and args is not None:
            self._commands[args] = command
            if len(self._commands) > CALLS_KEPT:
                self._commands.popitem(last=False)

    def _tell_barred(self, barred: Sighting, step: Step, *, at: float) -> None:
        """Count refused tries where a lane sees none beforehand; what may have changed something lifts the bar."""
        if self._tried:
            self._tried = False
            self._refused[barred.identity] = self._refused.get(barred.identity, 0) + 1
            if self._refused[barred.identity] >= REFUSALS:
                self.signals.append(replace(barred, level=Level.END).signal())
                self._end(barred, at=at)
        elif step.changed is not False:
            self._barred = None

    def _advised(self, moment: Moment, stream: str) -> Answer:
        return self._advice(stream) if moment in self._advises else ALLOW

    def _advice(self, stream: str) -> Answer:
        text = "\n\n".join(self._pending.pop(stream, []))
        if not text:
            return ALLOW
        self._advised_texts.append(text)
        return Answer("advise", text)

    def _denied(self, text: str, *, call: str = "") -> Answer:
        """Return a refusal, and remember it: what comes back for the call is our own word, and no evidence."""
        if call:
            self._refused_calls.append(call)
            self._maker.refused(call)
        if text not in self._refusal_texts:
            self._refusal_texts.append(text)
        return Answer("deny", text)

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
            self._barred = sighting if self._by_shell else None

    def _refusal(self, sighting: Sighting, *, at: float) -> str:
        """Return the advice in full the first time, short after that, and the end of the turn when it goes on."""
        tries = self._refused[sighting.identity] = self._refused.get(sighting.identity, 0) + 1
        if sighting.level >= Level.END:
            self.signals.append(sighting.signal())
            self._end(sighting, at=at)
            return ENDING
        return self._words(sighting) if tries == 1 else AGAIN

    def _end(self, sighting: Sighting, *, at: float) -> None:
        if self._ending_at is None:
            self._ending_at, self._ending_turns, self._why = at, 0, f"{sighting.detector}: {sighting.detail}"
            self._unsaid.append(self._words(sighting))
