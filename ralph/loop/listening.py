"""What the loop hears of an agent while it works: lines become events, events are folded, watched and answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
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


@dataclass(slots=True)
class Listener:
    """The `Watcher` of one agent run.

    record: what the agent writes down for itself. limit: asked after each line that meant something. tell: told of
    each turn. lane: by which it can be spoken to. unread: advice that was put where no command of the agent looked any
    more.
    """

    reader: Reader
    fold: StreamFold
    steering: Steering
    _: KW_ONLY
    clock: Clock
    steps: StepsFile
    lane: Opened
    control: Control
    record: Record
    limit: Callable[[StreamFacts], Cut | None]
    tell: Callable[[StreamFacts], None]
    unread: tuple[str, ...] = ()
    turns: int = 0
    waiting: bytearray = field(default_factory=bytearray)
    flagged: dict[str, str] = field(default_factory=dict)

    def line(self, stream: Stream, line: bytes) -> Cut | None:
        """Take one line of output."""
        events = self.reader.line(stream, line)
        self._see(events)
        self._see(self.record.news() if events else ())
        if self.lane.talk is not None and stream == "out":
            self.waiting += self.lane.talk.hear(line, self.decide)
            if not self.lane.advises:
                self.waiting += self._spoken(self.lane.talk)
        if events and self.lane.script is not None:
            self._flag(self.lane.script.parent)
        return self._weighed() if events else None

    def hook(self, moment: Moment, payload: Mapping[str, object]) -> tuple[str, Cut | None]:
        """Answer a hook of the agent: what it is to print, and whether the agent is to be ended."""
        hooked = self.lane.hooked
        asked = hooked.asked(moment, payload) if hooked is not None else None
        if hooked is None or asked is None:
            return "", None
        self._see(self.record.news())
        return hooked.answered(asked, self.decide(asked)), self._weighed()

    def decide(self, asked: Asked) -> Answer:
        """Answer a lane about one call."""
        return self.steering.answer(asked, at=self.clock.awake())

    def cut(self) -> Cut | None:
        """Return why the agent is to be ended for going in circles, None if it is not."""
        return self.steering.cut(at=self.clock.awake())

    def end(self, ended: Ended, files: Mapping[str, bytes]) -> StreamFacts:
        """Take the end of output and what the agent left in files; return all that was told."""
        self._see(self.reader.end())
        self._see(self.record.news())
        code = ended.how.code if isinstance(ended.how, Exited) else None
        self._see(afterword(self.reader, files, code=code))
        self.steps.close()
        if self.lane.script is not None:
            left = shell.taken_back(self.lane.script.parent)
            self.unread = tuple(self.flagged[name] for name in left if name == shell.ADVICE)
        if isinstance(self.lane.talk, KeepsUnsaid):
            self.unread = (*self.unread, *(text for text in self.lane.talk.unsaid() if text != ENDING))
        return self.fold.facts()

    def finished(self) -> bool:
        """Return whether the agent has told its result, or has given up: from then on it only lingers."""
        return self.fold.finished() or self.control.is_given_up

    def excused(self) -> bool:
        """Return whether silence is expected."""
        return self.fold.excused()

    def replies(self) -> bytes:
        """Return what to write to a conversed agent now, and forget it."""
        replies, self.waiting = bytes(self.waiting), bytearray()
        return replies

    def closes_stdin(self) -> bool:
        """Return whether nothing more is said to the agent."""
        return self.lane.talk is None or self.lane.talk.is_over()

    def _see(self, events: tuple[Event, ...]) -> None:
        for told in events:
            event = self.steering.heard(told)
            self.fold.see(event)
            step = self.steering.see(event, at=self.clock.awake())
            if step is not None:
                self.steps.add(row_of(step))

    def _spoken(self, talk: Talk) -> bytes:
        """Return what is said in the middle of the turn; what comes too late stays for the next prompt's note."""
        if talk.is_over():
            return b""
        return talk.says(self.steering.message() if self.lane.asks else self.steering.shell().text)

    def _flag(self, folder: Path) -> None:
        """Put what the agent's shell commands are to be met with where they look."""
        answer = self.steering.command()
        if answer.act == "advise":
            self.flagged[shell.ADVICE] = answer.text
            shell.put(folder, shell.ADVICE, answer.text)
        if answer.act == "deny" and self.flagged.get(shell.REFUSAL) != answer.text:
            self.flagged[shell.REFUSAL] = answer.text
            shell.put(folder, shell.REFUSAL, answer.text, only=answer.only)
        elif answer.act != "deny" and self.flagged.pop(shell.REFUSAL, ""):
            shell.lifted(folder)

    def _weighed(self) -> Cut | None:
        facts = self.fold.facts()
        if facts.turns > self.turns:
            self.turns = facts.turns
            self.tell(facts)
        return self.limit(facts) or self.cut()
