"""The paths that the user's own index tracks: they belong to the tree even where an ignore rule names them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from ralph.repo.ignoring import Patterns
from ralph.repo.reading import Key, key_of


class Names:
    """Follows an index file. read: returns all its paths, None if it cannot be read just now."""

    def __init__(self, index: Path | None, read: Callable[[], frozenset[bytes] | None], left_out: Patterns) -> None:
        self.all: frozenset[bytes] = frozenset()
        self._index = index
        self._read = read
        self._left_out = left_out
        self._key: Key | None = None

    def refresh(self) -> bool:
        """Read the index again if it was replaced; return whether the names changed.

        An index that vanished or is broken leaves the last names in force: the tree is still there to be looked at.
        """
        key = _key(self._index)
        if key is None or key == self._key:
            return False
        found = self._read()
        if found is None:
            return False
        self._key = key
        if self._left_out:
            found = frozenset(path for path in found if not self._left_out.match(path))
        changed = found != self.all
        self.all = found
        return changed

    def below(self, folder: bytes) -> frozenset[bytes]:
        """Return the names below a directory."""
        return frozenset(path for path in self.all if path.startswith(folder + b"/"))


def present(top: bytes, paths: Iterable[bytes]) -> list[bytes]:
    """Return those paths that are there, reached through directories only: a link on the way leads elsewhere."""
    folders: dict[bytes, bool] = {b"": True}
    return [path for path in paths if _is_folder(top, path.rpartition(b"/")[0], folders) and _is_there(top + path)]


def _is_folder(top: bytes, folder: bytes, known: dict[bytes, bool]) -> bool:
    if folder not in known:
        above = folder.rpartition(b"/")[0]
        place = top + folder
        known[folder] = _is_folder(top, above, known) and os.path.isdir(place) and not os.path.islink(place)  # noqa: PTH112, PTH114
    return known[folder]


def _is_there(place: bytes) -> bool:
    return os.path.lexists(place) and (os.path.islink(place) or not os.path.isdir(place))  # noqa: PTH112, PTH114


def _key(index: Path | None) -> Key | None:
    """Return what tells a new index, None where there is none; git would hang on a pipe under its name."""
    try:
        status = index.stat() if index else None
    except OSError:
        return None
    return key_of(status) if status and stat.S_ISREG(status.st_mode) else None
