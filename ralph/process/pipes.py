"""Our ends of a child's pipes: what it prints is split, logged, counted; what it is told is written without waiting."""

from __future__ import annotations

import os
from contextlib import suppress

from ralph.process.lines import Lines
from ralph.process.rawlog import RawLog

_READ = 256 << 10
"""More leaves the processor's cache and is slower (measured), a pipe holds 64 KiB anyway."""
_OWED = 16 << 20
"""Bytes of replies held for a child that asks and does not read; then it waits for us as we wait for it."""
_TURN = 512 << 10
_TURN_LINES = 8192
"""Bytes and lines taken from one pipe before deadlines are looked at again (B8): two pipes make 1 MiB a turn."""


class Outlet:
    """The reading end of one output pipe. bytes: all that came; tail: the last of it, at most tail_bytes."""

    def __init__(self, fd: int, *, log: RawLog | None, line_cap: int, tail_bytes: int = 0) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.open = True
        self.bytes = 0
        self.lines = Lines(line_cap)
        self.tail = b""
        self._tail_bytes = tail_bytes
        self._log = log

    def read(self) -> list[bytes]:
        """Return the lines that are there, about one turn's worth at most; `open` turns false at end-of-file."""
        found: list[bytes] = []
        left = _TURN
        while left > 0 and len(found) < _TURN_LINES and self.open:
            try:
                chunk = os.read(self.fd, _READ)
            except BlockingIOError:
                break
            if not chunk:
                self.close()
                break
            left -= len(chunk)
            found += self._take(chunk)
        return found

    def close(self) -> None:
        """Stop reading: whoever still writes gets SIGPIPE."""
        if self.open:
            self.open = False
            os.close(self.fd)

    def end(self) -> list[bytes]:
        """Close pipe and log; return the last line if it lacks its newline."""
        self.close()
        if self._log is not None:
            self._log.close()
        return self.lines.rest()

    @property
    def trouble(self) -> str:
        """Return why the log is incomplete, "" if it is not."""
        return self._log.trouble if self._log is not None else ""

    def _take(self, chunk: bytes) -> list[bytes]:
        self.bytes += len(chunk)
        if self._log is not None:
            self._log.write(chunk)
        if self._tail_bytes:
            self.tail = (self.tail + chunk[-self._tail_bytes :])[-self._tail_bytes :]
        return self.lines.feed(chunk)


class Inlet:
    """The writing end of a conversed child's stdin."""

    def __init__(self, fd: int, first: bytes) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.open = True
        self._waiting = bytearray(first)
        self._full = len(first) + _OWED

    def add(self, data: bytes) -> None:
        """Queue what is to be written."""
        self._waiting += data

    @property
    def busy(self) -> bool:
        """Return whether something waits to be written."""
        return self.open and bool(self._waiting)

    @property
    def is_full(self) -> bool:
        """Return whether so much waits that nothing should be read from the child before it has read some of it."""
        return self.open and len(self._waiting) > self._full

    def write(self) -> None:
        """Write what fits now; a child that no longer reads closes the pipe and drops the rest."""
        try:
            while self._waiting:
                del self._waiting[: os.write(self.fd, self._waiting[:_READ])]
        except BlockingIOError:
            pass
        except OSError:
            self.close()

    def close(self) -> None:
        """Send end-of-file."""
        if self.open:
            self.open = False
            self._waiting = bytearray()
            with suppress(OSError):
                os.close(self.fd)
