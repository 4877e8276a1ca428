"""Writes the journal: one record a line, on the disk before `append` returns. Reading is `read`'s.

Whatever goes wrong ends the run with `storage`: a record that may not be there must not be followed by its effect.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Literal

from ralph.errors import UserError
from ralph.journal.codec import dumps
from ralph.journal.effects import DISK, FULL, Disk, Effects, storage_error, write_all
from ralph.journal.keepsake import Keepsake
from ralph.journal.read import FRAME, Record, check_schema, file_bytes, parse, seal, stamp
from ralph.ports import Clock

RESERVE_BYTES = 16 << 10
FINAL = "run_stopped"
LED_ON = frozenset({"tests_ended", "signal"})
"""Records that announce no effect: the next record follows at once, and its sync is theirs."""
Tell = Callable[[Record], None]


def line_of(record: Record) -> bytes:
    """Return a record as its sealed line. Raises: ValueError for a field that JSON or the frame cannot carry."""
    taken = record.fields.keys() & set(FRAME)
    if taken:
        raise ValueError(f"fields may not be called {sorted(taken)}")
    frame = {"n": record.n, "at": stamp(record.at), "up_s": record.up_s, "type": record.kind}
    body = dumps({**frame, **record.fields})[:-1].encode("ascii")
    return body + seal(body) + b"\n"


class Log:
    """The journal of one run, open for appending. One writer only: the lock of the tree sees to that.

    tell: called with each record once it is on the disk; `open` tells those already there first.
    """

    def __init__(self, path: Path, fd: int, *, clock: Clock, effects: Effects, tell: Tell | None) -> None:
        self._path, self._fd, self._clock, self._effects, self._tell = path, fd, clock, effects, tell
        self._began = clock.real()
        self._n = 0
        self._size = 0
        self._up_s = 0.0
        self._last = b""
        self._hash = hashlib.sha256()
        self._keepsake = Keepsake()
        self._state: Literal["sound", "full", "dead"] = "sound"
        self._error: UserError | None = None
        self._copy: Path | None = None
        info = os.fstat(fd)
        self._inode = (info.st_dev, info.st_ino)
        self._changed_ns = info.st_ctime_ns

    @classmethod
    def create(cls, path: Path, *, clock: Clock, effects: Effects = DISK, tell: Tell | None = None) -> Log:
        """Begin a journal in a run directory of its own. Raises: UserError (storage)."""
        try:
            fd = effects.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
            _reserve(path, effects)
            effects.sync_dir(path.parent)
        except OSError as error:
            raise storage_error("cannot begin the journal", error, where=path) from None
        return cls(path, fd, clock=clock, effects=effects, tell=tell)

    @classmethod
    def open(cls, path: Path, *, clock: Clock, effects: Effects = DISK, tell: Tell | None = None) -> Log:
        """Go on with a journal; a torn end is moved to a side file first (S2).

        Raises: UserError (storage) where records were altered or the disk fails, (usage) for another schema or
        a journal without a single record.
        """
        data = file_bytes(path)
        reading = parse(data)
        check_schema(reading.records, where=path)
        if reading.damage:
            fix = "This run cannot be resumed; `ralph report` shows what is sound. Start a new run with `ralph run`."
            raise storage_error(f"the journal is damaged: {reading.damage}", where=path, fix=fix)
        if not reading.records:
            raise UserError("the journal holds no record", where=str(path), fix="Start a new run with `ralph run`.")
        try:
            fd = _mended(path, reading.good_bytes, tail=reading.tail, effects=effects)
        except OSError as error:
            raise storage_error("cannot go on with the journal", error, where=path) from None
        log = cls(path, fd, clock=clock, effects=effects, tell=tell)
        log._take_over(data[: reading.good_bytes], reading.records)
        return log

    def _take_over(self, data: bytes, records: tuple[Record, ...]) -> None:
        self._hash.update(data)
        self._keepsake.add(data)
        self._size, self._n, self._up_s = len(data), len(records), records[-1].up_s
        self._last = data[data.rfind(b"\n", 0, -1) + 1 :]
        for record in records:
            if self._tell:
                self._tell(record)

    @property
    def up_s(self) -> float:
        """Return the real seconds this run has lasted, earlier sessions included."""
        return round(self._up_s + max(0.0, self._clock.real() - self._began), 3)

    @property
    def copy(self) -> Path | None:
        """Return the emergency copy, None if none had to be written."""
        return self._copy

    def append(self, kind: str, fields: Mapping[str, object]) -> None:
        """Write one record and sync it to disk before returning, but for those of `LED_ON`.

        On a full disk one record more may come: `run_stopped`, for which a reserve is kept (S4). After any other
        failure nothing is written or synced again: what the kernel dropped would look clean (S5).
        Raises: UserError (storage). ValueError for fields that are a bug of ours.
        """
        record = Record(self._n + 1, self._clock.now(), self.up_s, kind, fields)
        line = line_of(record)
        if self._state == "full" and kind == FINAL and len(line) > RESERVE_BYTES // 2:
            record = Record(record.n, record.at, record.up_s, kind, _short(fields))
            line = line_of(record)
        self._admit(kind, line)
        self._check(line, whole=kind == FINAL)
        self._put(line, synced=kind not in LED_ON)
        self._n += 1
        if self._tell:
            self._tell(record)

    def _admit(self, kind: str, line: bytes) -> None:
        """Let the record through unless an earlier failure forbids it. Raises: UserError."""
        if self._error is None:
            return
        if self._state == "full" and kind == FINAL:
            self._drop_reserve()
            return
        if self._state == "dead" and kind == FINAL and self._copy is not None:
            self._keepsake.add(line)
            self._copy = self._keepsake.write(self._path, effects=Disk()) or self._copy
        raise self._error

    def _put(self, line: bytes, *, synced: bool) -> None:
        try:
            write_all(self._effects, self._fd, line)
        except OSError as error:
            self._give_up(error, line)
        try:
            if synced:
                self._effects.sync(self._fd)
        except OSError as error:
            raise self._dead(f"cannot sync the journal: {error.strerror or error}", line) from None
        self._size += len(line)
        self._last = line
        self._hash.update(line)
        self._keepsake.add(line)
        self._changed_ns = os.fstat(self._fd).st_ctime_ns

    def _give_up(self, error: OSError, line: bytes) -> None:
        """Take back a half-written record; then only a full disk leaves something to hope for. Raises: UserError."""
        try:
            self._effects.truncate(self._fd, self._size)
            self._changed_ns = os.fstat(self._fd).st_ctime_ns
        except OSError:
            raise self._dead(f"cannot write the journal: {error.strerror or error}", line) from None
        if error.errno not in FULL or self._state != "sound":
            raise self._dead(f"cannot write the journal: {error.strerror or error}", line) from None
        self._state = "full"
        self._error = storage_error("cannot write the journal", error, where=self._path, fix="Make room on the disk.")
        raise self._error from None

    def _dead(self, what: str, line: bytes) -> UserError:
        """Write the emergency copy and return the error that every later append repeats."""
        self._state = "dead"
        self._keepsake.add(line)
        self._n += 1
        # The copy is made with the real disk in any case: the seam is there to break the journal, not the rescue.
        self._copy = self._keepsake.write(self._path, effects=Disk())
        fix = f"What was recorded is in {self._copy}." if self._copy else ""
        self._error = storage_error(what, where=self._path, fix=fix)
        return self._error

    def _check(self, line: bytes, *, whole: bool) -> None:
        """See that the file is still the one we wrote, byte for byte (C4). Raises: UserError (storage).

        An edit in place moves the change time, which no user can set back; only then, and at the end of the run,
        is the whole file hashed again, so an append costs the same at the ten-thousandth record.
        """
        what = self._foreign() or (self._altered() if whole or self._touched() else None)
        if what:
            raise self._dead(f"the journal was tampered with: {what}", line)

    def _foreign(self) -> str | None:
        try:
            info, named = os.fstat(self._fd), self._path.lstat()
        except OSError:
            return "it was removed"
        if (named.st_dev, named.st_ino) != self._inode:
            return "another file stands in its place"
        if info.st_size != self._size:
            return f"it has {info.st_size} bytes and should have {self._size}"
        if os.pread(self._fd, len(self._last), self._size - len(self._last)) != self._last:
            return "its last record was altered"
        return None

    def _touched(self) -> bool:
        return os.fstat(self._fd).st_ctime_ns != self._changed_ns

    def _altered(self) -> str | None:
        before_ns = os.fstat(self._fd).st_ctime_ns
        found, offset = hashlib.sha256(), 0
        while chunk := os.pread(self._fd, 1 << 20, offset):
            found.update(chunk)
            offset += len(chunk)
        if found.digest() != self._hash.digest():
            return "earlier records were altered"
        self._changed_ns = before_ns
        return None

    def close(self) -> None:
        """Close the file and drop the reserve; nothing can be appended after."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            self._drop_reserve()

    def _drop_reserve(self) -> None:
        """Give the reserved room back; where that fails there is no more of it, and nothing else is lost."""
        with contextlib.suppress(OSError):
            self._effects.unlink(_reserve_path(self._path))

    def __enter__(self) -> Log:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _reserve_path(path: Path) -> Path:
    return path.with_name("journal.reserve")


def _reserve(path: Path, effects: Effects) -> None:
    """Occupy room on the disk that the last record may take. Raises: OSError."""
    fd = effects.open(_reserve_path(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        write_all(effects, fd, bytes(RESERVE_BYTES))
        effects.sync(fd)
    finally:
        os.close(fd)


def _mended(path: Path, good_bytes: int, *, tail: bytes, effects: Effects) -> int:
    """Return a descriptor of the journal cut to its sound records, the rest safe in a side file. Raises: OSError."""
    if tail:
        side = path.with_name(f"{path.stem}.torn-{good_bytes}-{os.urandom(3).hex()}")
        fd = effects.open(side, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            write_all(effects, fd, tail)
            effects.sync(fd)
        finally:
            os.close(fd)
        effects.sync_dir(path.parent)
    fd = effects.open(path, os.O_RDWR | os.O_APPEND, 0o600)
    try:
        if tail:
            effects.truncate(fd, good_bytes)
            effects.sync(fd)
        _reserve(path, effects)
    except OSError:
        os.close(fd)
        raise
    return fd


def _short(fields: Mapping[str, object]) -> Mapping[str, object]:
    """Return what of the last record fits into the reserve in any case."""
    stop = fields.get("stop")
    kept = {key: str(stop[key])[:1000] for key in ("reason", "detail") if key in stop} if isinstance(stop, dict) else {}
    return {"stop": kept}
