"""What the loop hears of an agent while it works: lines become events, events are folded, a limit may end it."""

from __future__ import annotations

from collections.abc import Callable

from ralph.agents.adapter import Reader
from ralph.facts.ending import Cut
from ralph.judge.stream import StreamFacts, StreamFold
from ralph.loop.control import Control
from ralph.ports import Stream


class Listener:
    """The `Watcher` of one agent run. limit: asked after each line that meant something. tell: told of each turn."""

    def __init__(
        self,
        reader: Reader,
        fold: StreamFold,
        *,
        control: Control,
        limit: Callable[[StreamFacts], Cut | None],
        tell: Callable[[StreamFacts], None],
    ) -> None:
        self._reader = reader
        self._fold = fold
        self._control = control
        self._limit = limit
        self._tell = tell
        self._turns = 0

    def line(self, stream: Stream, line: bytes) -> Cut | None:
        """Take one line of output."""
        events = self._reader.line(stream, line)
        for event in events:
            self._fold.see(event)
        return self._weighed() if events else None

    def end(self) -> StreamFacts:
        """Take the end of output and return all that was told."""
        for event in self._reader.end():
            self._fold.see(event)
        return self._fold.facts()

    def finished(self) -> bool:
        """Return whether the agent has told its result, or has given up: from then on it only lingers."""
        return self._fold.finished() or self._control.is_given_up

    def excused(self) -> bool:
        """Return whether silence is expected."""
        return self._fold.excused()

    def replies(self) -> bytes:
        """Return nothing: a fed agent is not spoken to."""
        return b""

    def closes_stdin(self) -> bool:
        """Return that stdin ends with the prompt."""
        return True

    def _weighed(self) -> Cut | None:
        facts = self._fold.facts()
        if facts.turns > self._turns:
            self._turns = facts.turns
            self._tell(facts)
        return self._limit(facts)
