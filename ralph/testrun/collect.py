"""Holds what a running command prints, within bounds, and tells nothing back to it."""

from __future__ import annotations

from collections import deque

from ralph.facts.ending import Cut
from ralph.ports import Stream
from ralph.testreports import is_noise

HEAD_BYTES = 2 << 20
TAIL_BYTES = 6 << 20
LAST_LINES = 40
LAST_LINE_BYTES = 400
_LINE_BYTES = 64 << 10


class _Kept:
    """Lines of one stream: the first 2 MiB and the last 6 MiB of them."""

    def __init__(self) -> None:
        self.head: list[bytes] = []
        self.tail: deque[bytes] = deque()
        self.head_bytes = 0
        self.tail_bytes = 0
        self.cut = False

    def add(self, line: bytes) -> None:
        size = len(line) + 1
        if not self.tail and self.head_bytes + size <= HEAD_BYTES:
            self.head.append(line)
            self.head_bytes += size
            return
        self.tail.append(line)
        self.tail_bytes += size
        while self.tail_bytes > TAIL_BYTES:
            self.tail_bytes -= len(self.tail.popleft()) + 1
            self.cut = True

    def text(self) -> bytes:
        return b"\n".join([*self.head, *self.tail])


class Collector:
    """A `Watcher` for commands that nobody converses with."""

    def __init__(self) -> None:
        self._streams: dict[Stream, _Kept] = {"out": _Kept(), "err": _Kept()}
        self._last: deque[bytes] = deque(maxlen=LAST_LINES)

    def line(self, stream: Stream, line: bytes) -> Cut | None:
        """Keep one line; a very long one is cut, since no report format has such lines."""
        if not is_noise(line):
            self._streams[stream].add(line[:_LINE_BYTES])
        self._last.append(line[:LAST_LINE_BYTES])
        return None

    def finished(self) -> bool:
        """Return False: a test command has no terminal event."""
        return False

    def excused(self) -> bool:
        """Return True: only its own time limit ends it, silence never does."""
        return True

    def replies(self) -> bytes:
        """Return nothing: it is never spoken to."""
        return b""

    def closes_stdin(self) -> bool:
        """Return True: it has no input."""
        return True

    @property
    def cut(self) -> bool:
        """Return whether lines were let go."""
        return any(kept.cut for kept in self._streams.values())

    def text(self) -> bytes:
        """Return what was kept, standard output first: runners that use both print their result on one."""
        return b"\n".join([self._streams["out"].text(), self._streams["err"].text()])

    def tail(self) -> str:
        """Return the last lines of both streams in the order they came, raw."""
        return b"\n".join(self._last).decode("utf-8", "replace")
