"""Writes the files of a saved state into the work tree: inside the root only, nothing executed, nothing lost.

What is about to be overwritten or removed and is in no snapshot is set aside first; what cannot be, stays.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from ralph.repo.keeping import Keeping
from ralph.repo.kept import KeptDamageError, Manifest
from ralph.repo.objects import GITLINK
from ralph.repo.rooted import InTheWayError, OutsideError, Rooted, parts_of
from ralph.repo.store import DamagedError, Store

Files = Mapping[bytes, tuple[bytes, str]]
"""Path → (mode as git writes it, object id), see `Store.entries`."""


@dataclass(slots=True)
class Written:
    """What happened to which path (surrogateescape). unchanged: were as wanted already.

    blocked: path and why it stays as it is. unsaved: their content was never kept. damaged: kept, but not intact.
    aside: in no snapshot, so kept apart before they were overwritten or removed.
    """

    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: int = 0
    blocked: list[str] = field(default_factory=list)
    unsaved: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Modes:
    """Permission bits that trees do not record. odd: path → bits, all that are not 0644 or 0755.

    is_complete: written down in the very state that is restored, so that what is not odd is known to be usual.
    """

    odd: Mapping[str, int] = field(default_factory=dict)
    is_complete: bool = False


class Writer:
    """Brings one root from the files in `now` to others. now: what a snapshot of this moment holds."""

    def __init__(self, root: Rooted, *, now: Files, aside: Keeping, modes: Modes, cap_bytes: int = 1 << 30) -> None:
        """cap_bytes: of one file that is set aside."""
        self._root = root
        self._now = {os.fsdecode(path): entry for path, entry in now.items() if entry[0] != GITLINK}
        self._aside = aside
        self._modes = modes
        self._cap = cap_bytes
        self._mask = os.umask(0o077)
        os.umask(self._mask)
        self.told = Written()

    def write_tree(self, target: Files, store: Store) -> None:
        """Write, replace and remove until the tree holds what target says; see `told` for what could not be."""
        wanted = {os.fsdecode(path): entry for path, entry in target.items()}
        for path in sorted(self._now.keys() - wanted.keys(), reverse=True):
            self._remove(path)
        for path, (mode, oid) in sorted(wanted.items()):
            if self._now.get(path) == (mode, oid):
                self._leave(path, mode)
            elif not _is_ours(path):
                self.told.blocked.append(f"{path}: not a path of a work tree")
            elif mode == GITLINK:
                self.told.unsaved.append(path)
            else:
                self._write_blob(path, mode, oid, store)
        self._set_directory_modes(wanted)

    def write_kept(self, kept: Manifest, *, missing_only: bool) -> None:
        """Write files that were kept apart (ignored ones); missing_only: what is there stays."""
        for row in kept.rows:
            status = self._root.stat(row.path)
            if row.kind == "dir" or (missing_only and status is not None):
                continue
            if row.kind == "link":
                self._put(row.path, partial(self._root.link, row.path, row.text))
                continue
            try:
                data = b"".join(kept.chunks(row))
            except KeptDamageError as error:
                self.told.damaged.append(str(error))
                continue
            if status is not None and self._is_same(row.path, status, data=data, mode=row.mode):
                self.told.unchanged += 1
            else:
                self._put(row.path, partial(self._root.write, row.path, (data,), mode=row.mode))

    def _is_same(self, path: str, status: os.stat_result, *, data: bytes, mode: int) -> bool:
        if not stat.S_ISREG(status.st_mode) or (status.st_size, status.st_mode & 0o777) != (len(data), mode):
            return False
        return self._root.read(path, cap_bytes=len(data)) == data

    def _remove(self, path: str) -> None:
        try:
            self._root.remove(path)
        except (OSError, OutsideError) as error:
            self.told.blocked.append(f"{path}: not removed: {error}")
        else:
            self.told.removed.append(path)

    def _write_blob(self, path: str, mode: bytes, oid: str, store: Store) -> None:
        try:
            data = store.read_blob(oid)
        except DamagedError as error:
            self.told.damaged.append(f"{path}: {error}")
            return
        if mode == b"120000":
            self._put(path, partial(self._root.link, path, os.fsdecode(data)))
        else:
            bits = self._bits(path, executable=mode == b"100755")
            self._put(path, partial(self._root.write, path, (data,), mode=bits))

    def _leave(self, path: str, mode: bytes) -> None:
        """Leave a file that holds what it should; only permission bits that git does not see may have to come back."""
        self.told.unchanged += 1
        if not self._modes.is_complete or mode == b"120000":
            return
        status = self._root.stat(path)
        bits = self._bits(path, executable=mode == b"100755")
        if status is not None and stat.S_ISREG(status.st_mode) and status.st_mode & 0o777 != bits:
            self._root.set_mode(path, bits)

    def _bits(self, path: str, *, executable: bool) -> int:
        """Return permission bits: the ones written down, else those of the file there, else the usual."""
        bits = self._modes.odd.get(path)
        if bits is None and self._modes.is_complete:
            bits = 0o644
        if bits is None:
            status = self._root.stat(path)
            is_file = status is not None and stat.S_ISREG(status.st_mode)
            bits = status.st_mode & 0o777 if status is not None and is_file else 0o666 & ~self._mask
        return (bits | (bits & 0o444) >> 2) if executable else bits & ~0o111

    def _put(self, path: str, write: Callable[[], None]) -> None:
        """Call write once nothing stands in the way any more."""
        try:
            if not self._cleared(path):
                return
            for _ in parts_of(path):
                try:
                    write()
                except InTheWayError as error:
                    if not self._set_aside(str(error.args[0])):
                        return
                else:
                    self.told.written.append(path)
                    return
        except OSError as error:
            self.told.blocked.append(f"{path}: {error.strerror or error}")

    def _cleared(self, path: str) -> bool:
        """Make room for a file: an empty directory goes, an unsaved file is set aside; False where it must stay."""
        status = self._root.stat(path)
        if status is None or (path in self._now and not stat.S_ISDIR(status.st_mode)):
            return True
        if not stat.S_ISDIR(status.st_mode):
            return self._set_aside(path)
        below = [at for at, found in self._root.walk(path) if stat.S_ISDIR(found.st_mode)]
        for directory in sorted(below, reverse=True):
            self._root.prune(directory)
        self._root.prune(path)
        if self._root.stat(path) is not None:
            self.told.blocked.append(f"{path}: a directory with ignored files stands there")
            return False
        return True

    def _set_aside(self, path: str) -> bool:
        """Keep what no snapshot holds, then remove it; False where it cannot be kept."""
        if path not in self._now:
            if not self._aside.keep_path(0, path, cap_bytes=self._cap):
                self.told.blocked.append(f"{path}: cannot be saved first, so it stays")
                return False
            self.told.aside.append(path)
        self._root.remove(path)
        return True

    def _set_directory_modes(self, wanted: Mapping[str, tuple[bytes, str]]) -> None:
        folders = {"/".join(path.split("/")[:n]) for path in wanted for n in range(1, path.count("/") + 1)}
        for path in folders & self._modes.odd.keys():
            status, bits = self._root.stat(path), self._modes.odd[path]
            if status is not None and stat.S_ISDIR(status.st_mode) and status.st_mode & 0o777 != bits:
                self._root.set_mode(path, bits)


def _is_ours(path: str) -> bool:
    """Tell whether a path may be one of a work tree: below the root, and in no git directory."""
    try:
        parts = parts_of(path)
    except OutsideError:
        return False
    return not any(part.lower() == ".git" for part in parts)
