"""File access below one directory, on descriptors, following no link: what is planted there cannot lead us out."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# NONBLOCK: a pipe planted under a file's name would hang the open.
OLD_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
CHUNK = 1 << 20


class OutsideError(ValueError):
    """A path that does not stay below the root: absolute, empty, with "." or ".." or NUL in it."""


class InTheWayError(OSError):
    """A link or a file stands where a directory is needed; `args[0]` is its path below the root."""


def parts_of(path: str) -> tuple[str, ...]:
    """Return the components of a "/"-separated path below a root. Raises: OutsideError."""
    parts = tuple(path.split("/"))
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise OutsideError(path)
    return parts


class Rooted:
    """One open directory. Paths are "/"-separated, relative, surrogateescape; closes with `with`.

    Every parent is opened with O_NOFOLLOW from the root down (C19), so a swapped directory is an error here,
    never a write elsewhere. Files are replaced by rename: a planted hard link keeps its other name's bytes.
    """

    def __init__(self, root: Path) -> None:
        """Open the directory. Raises: OSError where it is missing, a link or no directory."""
        self.root = root
        self._fd = os.open(root, DIRECTORY)
        self._near: tuple[str, int] | None = None
        """The directory used last, kept open: files come in the order of their directories."""

    def __enter__(self) -> Rooted:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._forget()
        os.close(self._fd)

    def _parent(self, path: str, *, make: bool = False) -> tuple[int, str]:
        """Return (descriptor of the directory that holds it, ours; last name). make: missing directories are made."""
        *above, name = parts_of(path)
        if not above:
            return self._fd, name
        folder = path[: -len(name) - 1]
        if self._near is None or self._near[0] != folder:
            fd = os.dup(self._fd)
            try:
                for depth, part in enumerate(above):
                    fd = _step(fd, part, "/".join(above[: depth + 1]), make=make)
            except BaseException:
                os.close(fd)
                raise
            self._forget()
            self._near = (folder, fd)
        return self._near[1], name

    def _forget(self) -> None:
        if self._near is not None:
            os.close(self._near[1])
            self._near = None

    def stat(self, path: str) -> os.stat_result | None:
        """Return its lstat; None where it, or a directory above it, is not there (a link above is not a directory)."""
        try:
            fd, name = self._parent(path)
            return os.stat(name, dir_fd=fd, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError, InTheWayError):
            return None

    def open(self, path: str) -> BinaryIO:
        """Open a regular file for reading. Raises: OSError (EINVAL for a pipe, directory, device)."""
        fd, name = self._parent(path)
        file = os.fdopen(os.open(name, OLD_FILE, dir_fd=fd), "rb")
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise OSError(errno.EINVAL, "no regular file", path)
        return file

    def read(self, path: str, *, cap_bytes: int) -> bytes:
        """Return a regular file's bytes. Raises: OSError (also EFBIG for more than the cap)."""
        with self.open(path) as file:
            data = file.read(cap_bytes + 1)
        if len(data) > cap_bytes:
            raise OSError(errno.EFBIG, "over the cap", path)
        return data

    def hard_link(self, path: str, target: Path) -> None:
        """Give a file a second name outside the root. Raises: OSError (EXDEV on another file system)."""
        fd, name = self._parent(path)
        os.link(name, target, src_dir_fd=fd, follow_symlinks=False)

    def link_text(self, path: str) -> str:
        """Return where a symbolic link points. Raises: OSError."""
        fd, name = self._parent(path)
        return os.readlink(name, dir_fd=fd)

    def write(self, path: str, chunks: Iterable[bytes], *, mode: int, mtime_ns: int | None = None) -> None:
        """Put a file in place, whole or not at all, with exactly these permission bits. Raises: OSError."""
        fd, name = self._parent(path, make=True)
        temporary = _fresh_name()
        target = os.open(temporary, NEW_FILE, 0o600, dir_fd=fd)
        try:
            with open(target, "wb") as file:
                file.writelines(chunks)
                file.flush()
                os.fchmod(target, mode & 0o777)
                if mtime_ns is not None:
                    os.utime(target, ns=(mtime_ns, mtime_ns))
            os.rename(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)
        except BaseException:
            os.unlink(temporary, dir_fd=fd)
            raise

    def link(self, path: str, text: str) -> None:
        """Put a symbolic link in place. Raises: OSError."""
        fd, name = self._parent(path, make=True)
        temporary = _fresh_name()
        os.symlink(text, temporary, dir_fd=fd)
        try:
            os.rename(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)
        except BaseException:
            os.unlink(temporary, dir_fd=fd)
            raise

    def make_directory(self, path: str, *, mode: int = 0o777) -> None:
        """Make a directory and those above it; one that is there stays as it is. Raises: OSError."""
        fd, name = self._parent(path, make=True)
        own = os.dup(fd)
        try:
            own = _step(own, name, path, make=True, mode=mode)
        finally:
            os.close(own)

    def set_mode(self, path: str, mode: int) -> None:
        """Set the permission bits of a file or directory, never through a link. Raises: OSError."""
        fd, name = self._parent(path)
        target = os.open(name, OLD_FILE, dir_fd=fd)
        try:
            os.fchmod(target, mode & 0o777)
        finally:
            os.close(target)

    def unlink(self, path: str) -> None:
        """Remove a file or link; missing is fine. Raises: OSError."""
        with suppress(FileNotFoundError):
            fd, name = self._parent(path)
            os.unlink(name, dir_fd=fd)

    def remove(self, path: str) -> None:
        """Remove a file or link, then directories above that this leaves empty; missing is fine. Raises: OSError."""
        self.unlink(path)
        self.prune(path.rpartition("/")[0])

    def prune(self, path: str) -> None:
        """Remove an empty directory and those above it that this leaves empty; stops at the first that is not."""
        while path:
            try:
                fd, name = self._parent(path)
                os.rmdir(name, dir_fd=fd)
            except OSError:
                return
            self._forget()
            path = path.rpartition("/")[0]

    def entries(self, path: str = "") -> list[tuple[str, os.stat_result]]:
        """Return (name, lstat) of what a directory holds, sorted; [] where it is missing or no directory."""
        found: list[tuple[str, os.stat_result]] = []
        try:
            fd, _ = self._parent(f"{path}/x" if path else "x")
            with os.scandir(fd) as listed:
                for entry in listed:
                    with suppress(FileNotFoundError):
                        found.append((entry.name, entry.stat(follow_symlinks=False)))
        except (FileNotFoundError, NotADirectoryError, InTheWayError):
            return []
        return sorted(found, key=lambda pair: pair[0])

    def walk(self, path: str = "") -> Iterator[tuple[str, os.stat_result]]:
        """Yield (path below the root, lstat) of everything below a directory, parents first, entering no link.

        Raises: OSError for a directory that cannot be read.
        """
        waiting = [path]
        while waiting:
            here = waiting.pop()
            for name, status in self.entries(here):
                found = f"{here}/{name}" if here else name
                yield found, status
                if stat.S_ISDIR(status.st_mode):
                    waiting.append(found)


def _step(fd: int, part: str, path: str, *, make: bool, mode: int = 0o777) -> int:
    """Return the directory `part` below `fd`, opened; closes `fd`, unless it raises (the caller still owns it then)."""
    try:
        below = os.open(part, DIRECTORY, dir_fd=fd)
    except FileNotFoundError:
        if not make:
            raise
        os.mkdir(part, mode, dir_fd=fd)
        below = os.open(part, DIRECTORY, dir_fd=fd)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise InTheWayError(path) from error
        raise
    os.close(fd)
    return below


def _fresh_name() -> str:
    return f".ralph-{secrets.token_hex(8)}"
