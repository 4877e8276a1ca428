"""The lock of a work tree: `flock` on the open descriptor of its top directory. Text about the holder is only text."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.journal.codec import dumps, from_json, to_json
from ralph.journal.effects import replace_file

UNSUPPORTED = frozenset({errno.ENOLCK, errno.EBADF, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EACCES})
PROBE_S = 0.25
"""How long `take` bears a held lock: somebody who only looks (`alive_holder`) has it for microseconds."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a tree. ticks: start time of the process in clock ticks since boot, None where unknown."""

    pid: int
    started_at: datetime
    run: str = ""
    ticks: int | None = None
    boot: str = ""
    host: str = ""

    @classmethod
    def me(cls, run: str, *, now: datetime) -> Holder:
        """Return this process."""
        return cls(os.getpid(), now, run, start_ticks(os.getpid()), boot_id(), socket.gethostname())

    @property
    def is_alive(self) -> bool:
        """Return whether this very process runs on this boot of this machine."""
        return self.boot == boot_id() and self.ticks is not None and start_ticks(self.pid) == self.ticks


def start_ticks(pid: int) -> int | None:
    """Return field 22 of /proc/PID/stat, None where there is none. Source: proc_pid_stat(5)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def boot_id() -> str:
    """Return the id of this boot, "" where the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def read_holder(note: Path) -> Holder | None:
    """Return what the note says, None if there is none or it makes no sense."""
    try:
        fd = os.open(note, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            return from_json(Holder, json.loads(file.read(4096)))
    except (OSError, ValueError, RecursionError):
        return None


class TreeLock:
    """A held lock. It is gone when released and when the process dies, however it dies (C20-C23)."""

    def __init__(self, top: Path, fd: int, *, weak: str = "") -> None:
        self._top, self._fd = top, fd
        self.weak = weak
        info = os.fstat(fd)
        self._inode = (info.st_dev, info.st_ino)

    @classmethod
    def take(cls, top: Path, holder: Holder, *, note: Path) -> TreeLock:
        """Lock the work tree and write who did into the note, a file of the state directory.

        Where the file system cannot lock a directory, a file beside the note is locked instead, and `weak` says so:
        then runs with another `--state-dir` are not seen (C24).
        Raises: UserError: held by another run (locked); no such tree, no lock to be had (refused).
        """
        weak = ""
        fd = _opened(top)
        try:
            taken = _flock(fd, fcntl.LOCK_EX)
            if taken is None:
                os.close(fd)
                fd = os.open(note.with_name("lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
                weak = "this file system cannot lock a folder; only runs with the same state directory are kept apart"
                taken = _flock(fd, fcntl.LOCK_EX)
            if taken is not True:
                raise (
                    _locked(top, note, fd)
                    if taken is False
                    else _refused(top, "no lock can be had on this file system")
                )
            lock = cls(top, fd, weak=weak)
            replace_file(note, dumps(to_json(holder)).encode("ascii") + b"\n")
        except OSError as error:
            os.close(fd)
            raise _refused(note, f"cannot say who holds the tree: {error.strerror or error}") from None
        except BaseException:
            os.close(fd)
            raise
        return lock

    @property
    def is_ours(self) -> bool:
        """Return whether the tree we locked is still the one under its path; ask before each iteration (C22)."""
        if self.weak:
            return self._fd >= 0
        try:
            info = os.stat(self._top)  # noqa: PTH116 - one call for path and descriptor alike
        except OSError:
            return False
        return self._fd >= 0 and (info.st_dev, info.st_ino) == self._inode

    def release(self) -> None:
        """Let go; the note stays, as text about the last run."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> TreeLock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def alive_holder(top: Path, *, note: Path) -> Holder | None:
    """Return who holds the tree now, None if nobody does. Keeps nothing and disturbs nobody.

    Where the note does not tell (not written yet, or torn) the holder has pid 0.
    """
    try:
        fd = _opened(top)
    except UserError:
        return None
    try:
        # Shared: two who look do not see each other.
        free = _flock(fd, fcntl.LOCK_SH, wait_s=0.0)
    finally:
        os.close(fd)
    told = read_holder(note)
    if free is False:
        return told if told and told.is_alive else Holder(0, datetime.fromisoformat("1970-01-01T00:00:00Z"))
    if free is None and told and told.is_alive:
        return told
    return None


def _opened(top: Path) -> int:
    try:
        return os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise _refused(top, f"cannot open the work tree: {error.strerror or error}") from None


def _flock(fd: int, how: int, *, wait_s: float = PROBE_S) -> bool | None:
    """Return True: taken, False: another has it, None: this file system has no such lock."""
    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(0.01)
        except OSError as error:
            if error.errno in UNSUPPORTED:
                return None
            raise
        else:
            return True


def _locked(top: Path, note: Path, fd: int) -> UserError:
    told = read_holder(note)
    if told and told.is_alive:
        run = f", run {told.run}" if told.run else ""
        who = f"pid {told.pid}, started {told.started_at:%Y-%m-%d %H:%M:%S} UTC{run}"
    else:
        # A run with another --state-dir leaves its note there; the kernel knows it all the same.
        who = _kernels_word(fd) or "it has not said yet who it is"
    fix = "Look at it with `ralph status`, end it with `ralph stop`."
    return UserError(f"another run holds this tree: {who}", where=str(top), fix=fix, reason=Reason.LOCKED)


def _kernels_word(fd: int) -> str:
    """Return who holds the lock on this file as the kernel lists it, "" where it does not. Source: proc_locks(5)."""
    info = os.fstat(fd)
    place = f"{os.major(info.st_dev):02x}:{os.minor(info.st_dev):02x}:{info.st_ino}"
    try:
        rows = [line.split() for line in Path("/proc/locks").read_text(encoding="ascii").splitlines()]
        pid = next(int(row[4]) for row in rows if row[1:2] == ["FLOCK"] and row[3] == "WRITE" and row[5] == place)
        booted = next(line for line in Path("/proc/stat").read_text("ascii").splitlines() if line.startswith("btime "))
    except (OSError, ValueError, IndexError, StopIteration):
        return ""
    ticks = start_ticks(pid)
    if ticks is None:
        return ""
    started = datetime.fromtimestamp(int(booted.split()[1]) + ticks / os.sysconf("SC_CLK_TCK"), UTC)
    return f"pid {pid}, started {started:%Y-%m-%d %H:%M:%S} UTC, with another state directory"


def _refused(where: Path, what: str) -> UserError:
    return UserError(what, where=str(where), reason=Reason.REFUSED)
