"""What the loop hears of an agent while it works: lines become events, events are folded, watched and answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ralph.agents.adapter import Reader, afterword
from ralph.agents.lanes import KeepsUnsaid, Talk
from ralph.facts.ending import Cut, Ended, Exited
from ralph.facts.event import Event
from ralph.facts.steer import Answer, Asked, Moment
from ralph.journal.steps import StepsFile
from ralph.judge.signals.step import row_of
from ralph.judge.steering import ENDING, Steering
from ralph.judge.stream import StreamFacts, StreamFold
from ralph.loop.control import Control
from ralph.loop.lanes import Opened
from ralph.loop.record import Record
from ralph.ports import Clock, Stream
from ralph.steer import shell


class Listener:
    """The `Watcher` of one agent run.

    record: what the agent writes down for itself. limit: asked after each line that meant something. tell: told of
    each turn. lane: by which it can be spoken to. unread: advice that was put where no command of the agent looked any
    more.
    """

    def __init__(
        self,
        reader: Reader,
        fold: StreamFold,
        steering: Steering,
        *,
        clock: Clock,
        steps: StepsFile,
        lane: Opened,
        control: Control,
        record: Record,
        limit: Callable[[StreamFacts], Cut | None],
        tell: Callable[[StreamFacts], None],
    ) -> None:
        self._reader = reader
        self._fold = fold
        self._steering = steering
        self._clock = clock
        self._steps = steps
        self._lane = lane
        self._talk = lane.talk
        self._control = control
        self._record = record
        self._limit = limit
        self._tell = tell
        self._turns = 0
        self._replies = bytearray()
        self._flagged: dict[str, str] = {}
        self.unread: tuple[str, ...] = ()

    def line(self, stream: Stream, line: bytes) -> Cut | None:
        """Take one line of output."""
        events = self._reader.line(stream, line)
        self._see(events)
        self._see(self._record.news() if events else ())
        if self._talk is not None and stream == "out":
            self._replies += self._talk.hear(line, self.decide)
            if not self._lane.advises:
                self._replies += self._spoken(self._talk)
        if events and self._lane.script is not None:
            self._flag(self._lane.script.parent)
        return self._weighed() if events else None

    def hook(self, moment: Moment, payload: Mapping[str, object]) -> tuple[str, Cut | None]:
        """Answer a hook of the agent: what it is to print, and whether the agent is to be ended."""
        hooked = self._lane.hooked
        asked = hooked.asked(moment, payload) if hooked is not None else None
        if hooked is None or asked is None:
            return "", None
        self._see(self._record.news())
        return hooked.answered(asked, self.decide(asked)), self._weighed()

    def decide(self, asked: Asked) -> Answer:
        """Answer a lane about one call."""
        return self._steering.answer(asked, at=self._clock.awake())

    def cut(self) -> Cut | None:
        """Return why the agent is to be ended for going in circles, None if it is not."""
        return self._steering.cut(at=self._clock.awake())

    def end(self, ended: Ended, files: Mapping[str, bytes]) -> StreamFacts:
        """Take the end of output and what the agent left in files; return all that was told."""
        self._see(self._reader.end())
        self._see(self._record.news())
        code = ended.how.code if isinstance(ended.how, Exited) else None
        self._see(afterword(self._reader, files, code=code))
        self._steps.close()
        if self._lane.script is not None:
            left = shell.taken_back(self._lane.script.parent)
            self.unread = tuple(self._flagged[name] for name in left if name == shell.ADVICE)
        if isinstance(self._talk, KeepsUnsaid):
            self.unread = (*self.unread, *(text for text in self._talk.unsaid() if text != ENDING))
        return self._fold.facts()

    def finished(self) -> bool:
        """Return whether the agent has told its result, or has given up: from then on it only lingers."""
        return self._fold.finished() or self._control.is_given_up

    def excused(self) -> bool:
        """Return whether silence is expected."""
        return self._fold.excused()

    def replies(self) -> bytes:
        """Return what to write to a conversed agent now, and forget it."""
        replies, self._replies = bytes(self._replies), bytearray()
        return replies

    def closes_stdin(self) -> bool:
        """Return whether nothing more is said to the agent."""
        return self._talk is None or self._talk.is_over()

    def _see(self, events: tuple[Event, ...]) -> None:
        for told in events:
            event = self._steering.heard(told)
            self._fold.see(event)
            step = self._steering.see(event, at=self._clock.awake())
            if step is not None:
                self._steps.add(row_of(step))

    def _spoken(self, talk: Talk) -> bytes:
        """Return what is said in the middle of the turn; what comes too late stays for the next prompt's note."""
        if talk.is_over():
            return b""
        return talk.says(self._steering.message() if self._lane.asks else self._steering.shell().text)

    def _flag(self, folder: Path) -> None:
        """Put what the agent's shell commands are to be met with where they look."""
        answer = self._steering.command()
        if answer.act == "advise":
            self._flagged[shell.ADVICE] = answer.text
            shell.put(folder, shell.ADVICE, answer.text)
        if answer.act == "deny" and self._flagged.get(shell.REFUSAL) != answer.text:
            self._flagged[shell.REFUSAL] = answer.text
            shell.put(folder, shell.REFUSAL, answer.text, only=answer.only)
        elif answer.act != "deny" and self._flagged.pop(shell.REFUSAL, ""):
            shell.lifted(folder)

    def _weighed(self) -> Cut | None:
        facts = self._fold.facts()
        if facts.turns > self._turns:
            self._turns = facts.turns
            self._tell(facts)
        return self._limit(facts) or self.cut()
