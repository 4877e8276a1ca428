"""The record an agent keeps for itself while it works: found, followed as it grows, handed to the agent's reader.

It is written by the agent: read from where we stopped, never waited for, capped, and never followed elsewhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from ralph.agents.adapter import Reader, ReadsRecord
from ralph.facts.event import Event

NEWEST = 2
"""Folders looked at on each level, newest names first: a run may go past midnight, but not past a whole day."""
READ_CAP = 4 << 20
LINE_CAP = 1 << 20
"""Bytes: taken at a time, and kept of a line that is not yet whole."""


class Record:
    """Follows the record of one run; for most agents there is none. environment: of the agent."""

    def __init__(self, reader: Reader, environment: Mapping[str, str]) -> None:
        self._reader = reader if isinstance(reader, ReadsRecord) else None
        self._environment = environment
        self._path: Path | None = None
        self._at = 0
        self._part = b""

    def news(self) -> tuple[Event, ...]:
        """Return what was written since the last time; () where there is nothing, or nothing to be read."""
        if self._reader is None:
            return ()
        self._path = self._path or self._found(self._reader)
        if self._path is None:
            return ()
        *lines, self._part = (self._part + self._read(self._path)).split(b"\n")
        if len(self._part) > LINE_CAP:
            self._part = b""
        return tuple(event for line in lines for event in self._reader.recorded(line))

    def _read(self, path: Path) -> bytes:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb", buffering=0) as file:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    data = os.pread(file.fileno(), READ_CAP, self._at)
                    self._at += len(data)
                    return data
        return b""

    def _found(self, reader: ReadsRecord) -> Path | None:
        place = reader.record(self._environment)
        if place is None:
            return None
        *levels, name = place[1].split("/")
        folders = [Path(place[0])]
        for _ in levels:
            folders = [folder / sub for folder in folders for sub in sorted(names(folder), reverse=True)[:NEWEST]]
        return next((f / found for f in folders for found in names(f) if fnmatchcase(found, name)), None)


def names(folder: Path) -> list[str]:
    """Return the names in a folder, [] where it cannot be read."""
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []
