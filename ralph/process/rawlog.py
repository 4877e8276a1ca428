"""A raw log of bounded size: the first half and the last half of what came, and a note of how much lies between."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_COPY = 1 << 20


class RawLog:
    """The file of one stream (B1).

    cap_bytes: size kept. The head is written as it comes; the tail goes round in a ring behind it, in the file, not in
    memory, and is put in order by `close`. Until then, or if we die, the file holds the head and the ring as it is.
    A disk that fills up ends the log, never the run: the first error is kept in `trouble`.
    """

    def __init__(self, path: Path, *, cap_bytes: int) -> None:
        self._path = path
        self._head = cap_bytes // 2
        self._ring = max(1, cap_bytes - self._head)
        self._total = 0
        self._fd = -1
        self.trouble = ""
        try:
            self._fd = _create(path)
        except OSError as error:
            self.trouble = str(error)

    def write(self, data: bytes) -> None:
        """Take what came next. Never raises."""
        at, self._total = self._total, self._total + len(data)
        if self._fd < 0:
            return
        try:
            if self._total <= self._head:
                _write(self._fd, data, at)
            else:
                self._write_round(data, at)
        except OSError as error:
            self._give_up(error)

    def close(self) -> None:
        """Put the tail in order and close the file. Never raises."""
        if self._fd < 0:
            return
        try:
            if self._total > self._head + self._ring:
                self._unroll()
        except OSError as error:
            self._give_up(error)
        else:
            os.close(self._fd)
            self._fd = -1

    def _write_round(self, data: bytes, at: int) -> None:
        view = memoryview(data)
        if at < self._head:
            first = self._head - at
            _write(self._fd, view[:first], at)
            view, at = view[first:], self._head
        if len(view) > self._ring:
            at += len(view) - self._ring
            view = view[-self._ring :]
        place = (at - self._head) % self._ring
        until_turn = self._ring - place
        _write(self._fd, view[:until_turn], self._head + place)
        _write(self._fd, view[until_turn:], self._head)

    def _unroll(self) -> None:
        """Write head, note and tail to a second file and put it in the place of the first."""
        left_out = self._total - self._head - self._ring
        turn = self._head + (self._total - self._head) % self._ring
        end = self._head + self._ring
        second = self._path.with_name(self._path.name + ".part")
        out = _create(second)
        try:
            _copy(self._fd, out, start=0, end=self._head)
            _write_all(out, b"\n[ralph: %d bytes left out here]\n" % left_out)
            _copy(self._fd, out, start=turn, end=end)
            _copy(self._fd, out, start=self._head, end=turn)
            second.replace(self._path)
        finally:
            os.close(out)

    def _give_up(self, error: OSError) -> None:
        self.trouble = str(error)
        with suppress(OSError):
            os.close(self._fd)
        self._fd = -1


def _create(path: Path) -> int:
    """Return a descriptor of a new empty file, never of what a link planted there points at (E13)."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _write(fd: int, data: bytes | memoryview, at: int) -> None:
    while data:
        done = os.pwrite(fd, data, at)
        data, at = memoryview(data)[done:], at + done


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _copy(source: int, target: int, *, start: int, end: int) -> None:
    while start < end:
        data = os.pread(source, min(_COPY, end - start), start)
        if not data:
            return
        _write_all(target, data)
        start += len(data)
