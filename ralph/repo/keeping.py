"""Fills one kept set: shares blocks, copies, or links, and writes the manifest. What to keep is `keep`'s choice."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ralph.repo.kept import (
    CHUNK,
    KeptDamageError,
    Manifest,
    Root,
    Row,
    check_of,
    make_private,
    read_manifest,
    stored,
    write_manifest,
)
from ralph.repo.rooted import Rooted

FICLONE = 0x40049409
"""ioctl that makes one file share another's blocks. Source: ioctl_ficlone(2)."""
# Bytes that never change under their name may be shared with the original.
FIXED = re.compile(r"(?:^|/)(?:objects/[0-9a-f]{2}/|objects/pack/pack-|lfs/objects/|annex/objects/)")
# Of the moment: locks, half-written objects, the monitor's socket.
PASSING = re.compile(r"(?:\.lock|^gc\.pid|/tmp_(?:obj|pack|idx)_[^/]*|fsmonitor--daemon[^/]*)$")


@dataclass(frozen=True, slots=True)
class Kept:
    """What was kept. digest: of the manifest, for the journal.

    notes: for the start lines, raw. left_out: paths below their root that are not kept.
    copied_bytes: newly written; shared_bytes: reflinked, or linked to an earlier run's copy or to the original.
    """

    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    files: int = 0
    copied_bytes: int = 0
    shared_bytes: int = 0
    digest: str = ""


class Keeping:
    """Fills one kept set; leaving the `with` without an error seals it under its final name, 0700 and 0600.

    A set that got no entry is not written at all.
    """

    def __init__(
        self,
        into: Path,
        *,
        roots: tuple[Root, ...],
        facts: dict[str, str],
        max_bytes: int,
        earlier: Path | None = None,
        is_git: bool = True,
    ) -> None:
        """is_git: the roots are git directories, so names tell objects and locks; in a work tree they tell nothing."""
        self._is_git = is_git
        self._into = into
        self._roots = roots
        self._facts = facts
        self._left = max_bytes
        self._earlier = _earlier_rows(earlier)
        self._can_clone = True
        self._rows: list[Row] = []
        self._tally = _Tally()
        self._folder = into.with_name(f".{into.name}.partial")

    def __enter__(self) -> Keeping:
        with suppress(FileNotFoundError):
            shutil.rmtree(self._folder)
        make_private(self._folder)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> None:
        if kind is not None or not self._rows:
            shutil.rmtree(self._folder)
        else:
            manifest = Manifest(self._folder, self._roots, self._facts, tuple(self._rows))
            self._tally.digest = write_manifest(manifest)
            self._folder.rename(self._into)

    def result(self) -> Kept:
        """Return what was kept; complete after the `with`."""
        tally, files = self._tally, sum(row.kind == "file" for row in self._rows)
        if tally.linked:
            tally.notes.append(f"{tally.linked} files of the object store are kept as hard links only (over the cap)")
        return Kept(
            tuple(tally.notes), tuple(tally.left_out), files, tally.copied_bytes, tally.shared_bytes, tally.digest
        )

    def keep_all(self, number: int) -> None:
        """Keep everything below one root; a root that is not there is a note."""
        root = self._roots[number]
        try:
            base = Rooted(Path(root.base))
        except OSError as error:
            self._tally.notes.append(f"{root.base}: not kept: {error.strerror}")
            return
        with base:
            for at, status in base.walk(root.prefix):
                self._keep(base, number, at[len(root.prefix) + 1 :] if root.prefix else at, status)

    def keep_path(self, number: int, path: str, *, cap_bytes: int) -> bool:
        """Keep one entry and return whether it is kept; what cannot be, or is over the cap, is left out by name."""
        with Rooted(Path(self._roots[number].base)) as base:
            status = base.stat(self._roots[number].at(path))
            if status is None or status.st_size > cap_bytes:
                self._tally.left_out.append(path)
                return False
            before = len(self._rows)
            self._keep(base, number, path, status)
            return len(self._rows) > before

    def _keep(self, base: Rooted, number: int, path: str, status: os.stat_result) -> None:
        """Keep one entry of any kind; one that vanished or cannot be read is left out by name."""
        mode = stat.S_IMODE(status.st_mode) & 0o777
        if self._is_git and PASSING.search(path):
            return
        try:
            if stat.S_ISDIR(status.st_mode):
                self._rows.append(Row(number, path, "dir", mode))
            elif stat.S_ISLNK(status.st_mode):
                text = base.link_text(self._roots[number].at(path))
                self._rows.append(Row(number, path, "link", mode, text=text))
            elif stat.S_ISREG(status.st_mode):
                self._keep_file(base, number, path, status)
            else:
                self._tally.notes.append(f"{path}: neither file nor link nor directory, so there is nothing to keep")
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
                raise
            self._tally.left_out.append(path)

    def _keep_file(self, base: Rooted, number: int, path: str, status: os.stat_result) -> None:
        target = stored(self._folder, number, path)
        make_private(target.parent)
        if not self._link_earlier(number, path, status, target):
            with base.open(self._roots[number].at(path)) as source:
                self._copy(base, source, self._roots[number].at(path), target)
        size = target.stat().st_size
        mode = stat.S_IMODE(status.st_mode) & 0o777
        self._rows.append(
            Row(number, path, "file", mode, size, status.st_mtime_ns, check_of(target, path if self._is_git else ""))
        )

    def _copy(self, base: Rooted, source: BinaryIO, path: str, target: Path) -> None:
        """Share blocks, else copy, else (fixed bytes only) hard link. Raises: OSError (EFBIG: over the cap)."""
        size = os.fstat(source.fileno()).st_size
        with open(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
            if self._clone(source, file):
                self._tally.shared_bytes += size
                return
            if size <= self._left:
                self._left -= size
                self._tally.copied_bytes += size
                shutil.copyfileobj(source, file, CHUNK)
                return
        target.unlink()
        if not self._is_git or not FIXED.search(path):
            raise OSError(errno.EFBIG, "over the cap", path)
        base.hard_link(path, target)
        self._tally.linked += 1
        self._tally.shared_bytes += size

    def _clone(self, source: BinaryIO, target: BinaryIO) -> bool:
        if not self._can_clone:
            return False
        try:
            fcntl.ioctl(target.fileno(), FICLONE, source.fileno())
        except OSError:
            self._can_clone = False  # another file system, or one that cannot: do not ask for every file
            return False
        return True

    def _link_earlier(self, number: int, path: str, status: os.stat_result, target: Path) -> bool:
        """Link the copy of an earlier run where name, length and time are the same; the check is made anew."""
        found = self._earlier.get((self._roots[number], path))
        if found is None or (found[0].size, found[0].mtime_ns) != (status.st_size, status.st_mtime_ns):
            return False
        try:
            os.link(found[1], target, follow_symlinks=False)
        except OSError:
            return False
        self._tally.shared_bytes += status.st_size
        return True


@dataclass(slots=True)
class _Tally:
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    copied_bytes: int = 0
    shared_bytes: int = 0
    linked: int = 0
    digest: str = ""


def _earlier_rows(earlier: Path | None) -> dict[tuple[Root, str], tuple[Row, Path]]:
    if earlier is None:
        return {}
    try:
        manifest = read_manifest(earlier)
    except (OSError, KeptDamageError):
        return {}
    fixed = (row for row in manifest.rows if row.kind == "file" and FIXED.search(row.path))
    return {(manifest.roots[row.root], row.path): (row, manifest.stored(row)) for row in fixed}
