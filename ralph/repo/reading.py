"""What one path of the work tree holds: its git mode and id from raw bytes, never through a filter, never unbounded.

Links are read, not followed; what is no file has its type recorded; a file above `SAMPLE_ABOVE` is told by its size,
time and two samples (4 GiB that take no space on disk would keep a reader busy for a minute).
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass

from ralph.repo.objects import GITLINK, object_id

SAMPLE_ABOVE = 32 << 20
SAMPLE = 64 << 10
CHUNK = 1 << 20
ATTEMPTS = 3

SETTLED_NS = 20_000_000
"""A file whose change time is younger may change again within the same tick of the kernel's clock (10 ms at most)."""
SETTLED_COARSE_NS = 2_000_000_000
"""The same for file systems that keep whole seconds."""

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Key = tuple[int, int, int, int, int]
"""(mode, mtime_ns, ctime_ns, size, inode): while it stays, so does the content, once the file has settled."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One look at a path. content: six digits of mode and 20 bytes of id, None: there is nothing.

    key: None where there is nothing or trouble. trouble: why it could not be read, "" if it was.
    sure: the file had settled, so this look holds while the key does.
    """

    content: bytes | None
    key: Key | None = None
    trouble: str = ""
    sure: bool = False


NOTHING = Seen(None)


def key_of(status: os.stat_result) -> Key:
    """Return the part of a stat result that tells a change."""
    return status.st_mode, status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def is_settled(key: Key, now_ns: int, *, age_ns: int = SETTLED_NS) -> bool:
    """Return whether a file read at now_ns (wall time) must change its key when it changes its content."""
    changed_ns = key[2]
    return changed_ns < now_ns - (age_ns if changed_ns % 1_000_000_000 else max(age_ns, SETTLED_COARSE_NS))


def see(path: bytes, now_ns: int, known: Seen | None = None) -> Seen:
    """Return what the path holds. now_ns: wall time before the look. known: an earlier look, returned if it holds."""
    try:
        status = os.lstat(path)
    except OSError as error:
        # A loop of links can only be above the path, and then the path does not exist.
        return NOTHING if error.errno == errno.ELOOP else _failed(error)
    key = key_of(status)
    if known is not None and known.sure and known.key == key:
        return known
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFREG:
        return _file(path, now_ns)
    if kind == stat.S_IFDIR:
        return NOTHING
    if kind != stat.S_IFLNK:
        return Seen(GITLINK + object_id("blob", b"ralph: special %o" % kind), key, sure=True)
    try:
        target = os.readlink(path)  # noqa: PTH115 - bytes, which Path cannot hold
    except OSError as error:
        return _failed(error)
    return Seen(b"120000" + object_id("blob", target), key, sure=is_settled(key, now_ns))


def _file(path: bytes, now_ns: int) -> Seen:
    try:
        for _ in range(ATTEMPTS):
            descriptor = os.open(path, _OPEN)
            try:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    return NOTHING
                oid = _content(descriptor, status)
            finally:
                os.close(descriptor)
            if oid is not None:
                key = key_of(status)
                return Seen(oid, key, sure=is_settled(key, now_ns))
    except OSError as error:
        return _failed(error)
    return Seen(GITLINK + object_id("blob", b"ralph: in motion"), None, "kept changing while it was read")


def _content(descriptor: int, status: os.stat_result) -> bytes | None:
    """Return mode and id of an open file; None when it was not as long as it said."""
    size = status.st_size
    if size > SAMPLE_ABOVE:
        return GITLINK + _sample(descriptor, status)
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    left = size
    while chunk := os.read(descriptor, min(CHUNK, left + 1)):
        digest.update(chunk)
        left -= len(chunk)
        if left < 0:
            return None
    mode = b"100755" if status.st_mode & 0o100 else b"100644"
    return mode + digest.digest() if left == 0 else None


def _sample(descriptor: int, status: os.stat_result) -> bytes:
    head = os.pread(descriptor, SAMPLE, 0)
    tail = os.pread(descriptor, SAMPLE, status.st_size - SAMPLE)
    told = b"ralph: sample %d %d %d\0" % (status.st_size, status.st_mtime_ns, status.st_mode & 0o100)
    return object_id("blob", told + head + tail)


def _failed(error: OSError) -> Seen:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return NOTHING
    return Seen(GITLINK + object_id("blob", b"ralph: unreadable"), None, error.strerror or "cannot be read")
