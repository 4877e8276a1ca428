"""Every effect on files that the journal's promises rest on, behind one small seam so that tests can make it fail."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Protocol

from ralph.errors import UserError
from ralph.facts.reason import Reason

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Errors that say "no room": a reserve dropped in time makes room again."""


class Effects(Protocol):
    """What the journal does to the disk. All raise OSError; none retries."""

    def open(self, path: Path, flags: int, mode: int) -> int:
        """Return a descriptor; O_CLOEXEC and O_NOFOLLOW are always added."""
        ...

    def write(self, fd: int, data: bytes) -> int:
        """Write once; the count may be short."""
        ...

    def sync(self, fd: int) -> None:
        """Force data and size to the disk."""
        ...

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file to this size."""
        ...

    def rename(self, old: Path, new: Path) -> None:
        """Replace atomically."""
        ...

    def unlink(self, path: Path) -> None:
        """Remove a file; one that is not there is no error."""
        ...

    def sync_dir(self, path: Path) -> None:
        """Force names of this directory to the disk."""
        ...


class Disk:
    """The real effects."""

    def open(self, path: Path, flags: int, mode: int) -> int:
        """See `Effects.open`."""
        return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, mode)

    def write(self, fd: int, data: bytes) -> int:
        """See `Effects.write`."""
        return os.write(fd, data)

    def sync(self, fd: int) -> None:
        """See `Effects.sync`; macOS keeps data in the drive's cache unless asked by F_FULLFSYNC."""
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fdatasync(fd)

    def truncate(self, fd: int, size: int) -> None:
        """See `Effects.truncate`."""
        os.ftruncate(fd, size)

    def rename(self, old: Path, new: Path) -> None:
        """See `Effects.rename`."""
        old.replace(new)

    def unlink(self, path: Path) -> None:
        """See `Effects.unlink`."""
        path.unlink(missing_ok=True)

    def sync_dir(self, path: Path) -> None:
        """See `Effects.sync_dir`."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


DISK = Disk()


def write_all(effects: Effects, fd: int, data: bytes) -> None:
    """Write every byte; a short write goes on with the rest. Raises: OSError."""
    view = memoryview(data)
    while view:
        try:
            done = effects.write(fd, bytes(view) if len(view) < len(data) else data)
        except InterruptedError:
            continue
        if done <= 0:
            raise OSError(errno.EIO, "the file system took no byte")
        view = view[done:]


def replace_file(path: Path, data: bytes, *, effects: Effects = DISK, mode: int = 0o600) -> None:
    """Replace a file atomically and durably: temp beside it, sync, rename, sync of the directory (S9).

    The temp has one fixed name, so a crash leaves at most one; it is removed first and made anew, never followed.
    Raises: OSError.
    """
    temp = path.with_name(f".{path.name}.tmp")
    effects.unlink(temp)
    fd = effects.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        write_all(effects, fd, data)
        effects.sync(fd)
    except OSError:
        effects.unlink(temp)
        raise
    finally:
        os.close(fd)
    effects.rename(temp, path)
    effects.sync_dir(path.parent)


def storage_error(what: str, error: OSError | None = None, *, where: Path | str = "", fix: str = "") -> UserError:
    """Return the error that ends a run with 43."""
    why = f": {error.strerror or error}" if error else ""
    return UserError(f"{what}{why}", where=str(where), fix=fix, reason=Reason.STORAGE)
