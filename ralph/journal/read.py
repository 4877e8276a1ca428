"""Reads a journal back: the longest valid prefix, and what lies behind it. Never repairs anything.

A line is `{"n":17,"at":"…Z","up_s":812.4,"type":"…",…,"crc":"9f3c1a2b"}`; the crc32 of the bytes before `,"crc"`
is compared as text, byte for byte: parsed as a number, upper-case hex would pass as well (S3).
"""

from __future__ import annotations

import json
import os
import re
import stat
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.journal.effects import storage_error

SCHEMA = 1
"""Major version of the journal and of the summary. Raised when an older ralph could misread a newer journal."""

FRAME = ("n", "at", "up_s", "type", "crc")
"""Keys that frame every record; no field may carry one of these names."""

SEAL_BYTES = len(',"crc":"00000000"}')
_SEAL = re.compile(rb',"crc":"[0-9a-f]{8}"\}\n\Z')


@dataclass(frozen=True, slots=True)
class Record:
    """One record. n: 1, 2, 3 …; at: aware UTC; up_s: real seconds of the run; kind: its "type"; fields: the rest."""

    n: int
    at: datetime
    up_s: float
    kind: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a journal holds. good_bytes: length of the valid prefix. tail: a torn end, b"" if none.

    damage: why the bytes behind the prefix are no torn end but records that were altered, None if they are not.
    """

    records: tuple[Record, ...]
    good_bytes: int
    tail: bytes = b""
    damage: str | None = None


def seal(body: bytes) -> bytes:
    """Return what closes a record over these bytes (an object without its closing brace)."""
    return b',"crc":"%08x"}' % zlib.crc32(body)


def opened(line: bytes, n: int) -> Record | None:
    """Return the record of one line without its newline, None unless it is exactly record n, unaltered."""
    if len(line) <= SEAL_BYTES or line[-SEAL_BYTES:] != seal(line[:-SEAL_BYTES]):
        return None
    try:
        data = json.loads(line)
        del data["crc"]
        number, at, up_s, kind = data.pop("n"), data.pop("at"), data.pop("up_s"), data.pop("type")
        if number != n or type(kind) is not str or type(up_s) not in (int, float) or at[-1:] != "Z":
            return None
        return Record(n, datetime.fromisoformat(at), float(up_s), kind, data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return None


def walk(data: bytes) -> Iterator[tuple[Record, int]]:
    """Yield (record, offset behind it) of the longest valid prefix."""
    start, n = 0, 1
    while (end := data.find(b"\n", start)) >= 0:
        record = opened(data[start:end], n)
        if record is None:
            return
        start, n = end + 1, n + 1
        yield record, start


def _sealed(line: bytes) -> bool:
    return len(line) > SEAL_BYTES and line.endswith(seal(line[:-SEAL_BYTES]))


def _damage(rest: bytes, n: int) -> str | None:
    """Return what shows that the bytes behind record n-1 were whole records once, None for a torn end.

    A write cut short leaves a beginning, zeros or old blocks, never a beginning or an end of a record and a newline.
    """
    first, *behind = rest.split(b"\n")
    if any(_sealed(line) for line in behind):
        return f"record {n} was altered: whole records follow it"
    if rest.endswith(b"\0") or bytes(8) in rest:
        return None
    if rest.endswith(b"\n") and (rest.startswith(b'{"n":%d,"at":"' % n) or _SEAL.search(rest)):
        return f"record {n} was altered: its seal does not fit"
    if _sealed(first[:-1]):
        return f"record {n} was altered: its newline is gone"
    return None


def parse(data: bytes) -> Reading:
    """Return what these bytes hold; total, never raises."""
    records: list[Record] = []
    good = 0
    for record, good in walk(data):  # noqa: B007 - the last offset is wanted
        records.append(record)
    rest = data[good:]
    damage = _damage(rest, len(records) + 1) if rest else None
    return Reading(tuple(records), good, b"" if damage else rest, damage)


def file_bytes(path: Path) -> bytes:
    """Return the bytes of a journal. Raises: UserError if there is none or it is no plain file of its own."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise UserError("no journal is there", where=str(path), reason=Reason.USAGE) from None
    except OSError as error:
        raise storage_error("cannot read the journal", error, where=path) from None
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise storage_error("the journal is not a plain file", where=path)
        return file.read()


def read(path: Path) -> Reading:
    """Return what a journal holds; a torn or damaged one is returned as far as it is sound.

    Raises: UserError if it cannot be read, or was written by a ralph of another major schema (S8).
    """
    reading = parse(file_bytes(path))
    check_schema(reading.records, where=path)
    return reading


def check_schema(records: tuple[Record, ...], *, where: Path) -> None:
    """Refuse a journal of another major schema, naming both. Raises: UserError (usage)."""
    found = records[0].fields.get("schema") if records and records[0].kind == "run_started" else SCHEMA
    major = int(found) if isinstance(found, int | float) else None
    if major != SCHEMA:
        raise UserError(
            f"this journal has schema {found!r}, this ralph reads schema {SCHEMA}",
            where=str(where),
            fix="Look at this run with the ralph that recorded it, or start a new run.",
        )


_HEAD = re.compile(rb'\{"n":([0-9]+),"at":"[^"]*","up_s":[^,]*,"type":"([a-z_]+)"')


def selected(path: Path, kinds: Collection[str]) -> Iterator[Record]:
    """Yield the records of these kinds from the longest valid prefix, in order: all seals checked, only these read.

    Of a long journal most is of no use to the one who asks, and JSON is what takes the time.
    Raises: UserError if it cannot be read, or was written by a ralph of another major schema.
    """
    wanted = frozenset(kind.encode("ascii") for kind in kinds)
    for n, line in enumerate(file_bytes(path).split(b"\n"), 1):
        head = _HEAD.match(line, 0, 200)
        if head is not None and head[2] not in wanted and int(head[1]) == n and _sealed(line):
            continue
        record = opened(line, n)  # also judges what does not look like a record
        if record is None:
            return
        if n == 1:
            check_schema((record,), where=path)
        yield record


class Tail:
    """Follows a journal that grows: each call gives the records that are new. For `logs -f` and `watch`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._n = 1

    def fresh(self) -> list[Record]:
        """Return the whole records written since the last call; stops for good at a damaged one.

        Raises: UserError if the file cannot be read.
        """
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise storage_error("cannot read the journal", error, where=self._path) from None
        with os.fdopen(fd, "rb") as file:
            file.seek(self._offset)
            data = file.read()
        found: list[Record] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            record = opened(data[start:end], self._n)
            if record is None:
                break
            found.append(record)
            start, self._n = end + 1, self._n + 1
        self._offset += start
        return found


def stamp(moment: datetime) -> str:
    """Return the time stamp of a record, in milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
