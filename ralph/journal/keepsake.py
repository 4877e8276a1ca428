"""Keeps what was journalled in memory, small, for the day the file on disk is destroyed."""

from __future__ import annotations

import os
import tempfile
import zlib
from collections import deque
from pathlib import Path

from ralph.journal.effects import Effects, write_all

BLOCK_BYTES = 64 << 10
CAP_BYTES = 2 << 20
"""Compressed bytes kept; that is all of a run of some thousand iterations. Beyond it the oldest blocks go."""


class Keepsake:
    """The first line and the newest lines of a journal, compressed block by block."""

    def __init__(self) -> None:
        self._first = b""
        self._blocks: deque[bytes] = deque()
        self._kept_bytes = 0
        self._open: list[bytes] = []
        self._open_bytes = 0
        self.dropped = False

    def add(self, lines: bytes) -> None:
        """Keep one or more whole lines."""
        if not self._first:
            self._first = lines[: lines.find(b"\n") + 1]
            lines = lines[len(self._first) :]
        self._open.append(lines)
        self._open_bytes += len(lines)
        if self._open_bytes >= BLOCK_BYTES:
            self._fold()

    def _fold(self) -> None:
        block = zlib.compress(b"".join(self._open), 1)
        self._open, self._open_bytes = [], 0
        self._blocks.append(block)
        self._kept_bytes += len(block)
        while self._kept_bytes > CAP_BYTES and len(self._blocks) > 1:
            self._kept_bytes -= len(self._blocks.popleft())
            self.dropped = True

    def text(self) -> bytes:
        """Return all lines kept, oldest first."""
        return b"".join((self._first, *map(zlib.decompress, self._blocks), *self._open))

    def write(self, beside: Path, *, effects: Effects) -> Path | None:
        """Write all lines to a new file beside the journal, else in the temp directory; None if neither works."""
        for folder in (beside.parent, Path(tempfile.gettempdir())):
            path = folder / f"{beside.stem}.emergency-{os.getpid()}-{os.urandom(3).hex()}.jsonl"
            try:
                fd = effects.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except OSError:
                continue
            try:
                write_all(effects, fd, self.text())
                effects.sync(fd)
            except OSError:
                continue
            finally:
                os.close(fd)
            return path
        return None
