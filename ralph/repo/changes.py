"""What differs between two trees of the store: names and line counts, by plumbing that runs nothing.

Most iterations change little: those are compared here, tree by tree and line by line. What is much, binary or not sure
is git's to count.
"""

from __future__ import annotations

import os
from collections import OrderedDict

from ralph.facts.tree import Changes, Edit
from ralph.repo.edits import edits_of
from ralph.repo.linecount import counted
from ralph.repo.objects import GITLINK
from ralph.repo.store import DamagedError, Store

COMMAND = ("diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--raw", "--numstat")
TIMEOUT_S = 120.0
FOLDER = b"40000"
LINK = b"120000"
LOOKED_AT = 64
"""Up to so many files that were not counted before are read here."""
READ_BYTES = 256 << 10
FOLDERS_KEPT, ENTRIES_KEPT, COUNTS_KEPT = 64, 500, 4096

Entry = tuple[bytes, str]
Pair = tuple[Entry | None, Entry | None]


class Comparison:
    """Compares trees of one store, and remembers folders it has read and files it has counted."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folders: OrderedDict[str, dict[bytes, Entry]] = OrderedDict()
        self._counts: OrderedDict[tuple[str, str], tuple[int, int]] = OrderedDict()
        self._last: tuple[str, str, dict[bytes, Pair]] = ("", "", {})

    def changes(self, before: str, after: str) -> Changes:
        """Return the changes from one tree to another, by their ids; without line counts if git fails on them."""
        if before == after:
            return Changes()
        try:
            pairs = self._pairs(before, after)
            lines = self._lines(pairs)
        except DamagedError:
            pairs, lines = {}, None
        if lines is None:
            return changes_between(self._store, before, after)
        return Changes(len(pairs), lines[0], lines[1], _shown(list(pairs)))

    def edits(self, before: str, after: str) -> tuple[Edit, ...]:
        """Return the changes file by file and line by line; () where damage hides them."""
        try:
            return edits_of(self._store, self._pairs(before, after)) if before != after else ()
        except DamagedError:
            return ()

    def gone(self, before: str, after: str) -> tuple[str, ...]:
        """Return the files that one tree has and another has not; none that damage hides."""
        try:
            pairs = self._pairs(before, after)
        except DamagedError:
            return ()
        return _shown([path for path, (old, new) in pairs.items() if old is not None and new is None])

    def _pairs(self, before: str, after: str) -> dict[bytes, Pair]:
        """Return the files that differ, by path. Raises: DamagedError."""
        if self._last[:2] != (before, after):
            self._last = (before, after, self._compared(before, after))
        return self._last[2]

    def _compared(self, before: str, after: str) -> dict[bytes, Pair]:
        found: dict[bytes, Pair] = {}
        ahead: list[tuple[bytes, str | None, str | None]] = [(b"", before, after)]
        while ahead:
            folder, old_id, new_id = ahead.pop()
            old, new = self._folder(old_id), self._folder(new_id)
            for name in old.keys() | new.keys():
                one, two = old.get(name), new.get(name)
                if one == two:
                    continue
                below = _below(one), _below(two)
                if below != (None, None):
                    ahead.append((folder + name + b"/", *below))
                files = _file(one), _file(two)
                if files != (None, None):
                    found[folder + name] = files
        return found

    def _folder(self, oid: str | None) -> dict[bytes, Entry]:
        if oid is None:
            return {}
        known = self._folders.get(oid)
        if known is None:
            known = self._store.read_tree(oid)
            if len(known) <= ENTRIES_KEPT:
                self._folders[oid] = known
        else:
            self._folders.move_to_end(oid)
        if len(self._folders) > FOLDERS_KEPT:
            self._folders.popitem(last=False)
        return known

    def _lines(self, pairs: dict[bytes, Pair]) -> tuple[int, int] | None:
        """Return lines added and removed in all, None where git has to count. Raises: DamagedError."""
        fresh = sum(1 for pair in pairs.values() if _ids(pair) not in self._counts)
        if fresh > LOOKED_AT:
            return None
        added = removed = 0
        for pair in pairs.values():
            lines = self._counted(pair)
            if lines is None:
                return None
            added, removed = added + lines[0], removed + lines[1]
        return added, removed

    def _counted(self, pair: Pair) -> tuple[int, int] | None:
        kinds = {entry[0] in (GITLINK, LINK) for entry in pair if entry is not None}
        if kinds != {False}:
            return None
        ids = _ids(pair)
        if ids in self._counts:
            self._counts.move_to_end(ids)
            return self._counts[ids]
        old, new = (b"" if entry is None else self._store.read_blob(entry[1]) for entry in pair)
        if len(old) + len(new) > READ_BYTES:
            return None
        lines = (0, 0) if ids[0] == ids[1] else counted(old, new)
        if lines is not None:
            self._counts[ids] = lines
            if len(self._counts) > COUNTS_KEPT:
                self._counts.popitem(last=False)
        return lines


def _below(entry: Entry | None) -> str | None:
    return entry[1] if entry is not None and entry[0] == FOLDER else None


def _file(entry: Entry | None) -> Entry | None:
    return None if entry is None or entry[0] == FOLDER else entry


def _ids(pair: Pair) -> tuple[str, str]:
    old, new = ("" if entry is None else entry[1] for entry in pair)
    return old, new


def changes_between(store: Store, before: str, after: str) -> Changes:
    """Return the changes from one tree to another, by their ids; without line counts if git fails on them."""
    if before == after:
        return Changes()
    told = store.git.run([*COMMAND, before, after], git_dir=store.path, timeout_s=TIMEOUT_S)
    return parsed(told.out) if told.ok else _names_only(store, before, after)


def parsed(out: bytes) -> Changes:
    """Return what `diff-tree -z --raw --numstat` tells. Source: git-diff-tree(1), "raw output format"."""
    records = iter(out.split(b"\0"))
    paths: list[bytes] = []
    added, removed, hidden = 0, 0, False
    for record in records:
        if record.startswith(b":"):
            modes = record[1:].split(b" ", 2)[:2]
            hidden = hidden or GITLINK in modes
            paths.append(next(records))
        elif record:
            plus, minus, _ = record.split(b"\t", 2)
            if plus == b"-":
                hidden = True
            else:
                added, removed = added + int(plus), removed + int(minus)
    return Changes(len(paths), None if hidden else added, None if hidden else removed, _shown(paths))


def _names_only(store: Store, before: str, after: str) -> Changes:
    try:
        old, new = store.entries(before), store.entries(after)
    except DamagedError:
        return Changes(0, None, None)
    paths = [path for path in old.keys() | new.keys() if old.get(path) != new.get(path)]
    return Changes(len(paths), None, None, _shown(paths))


def _shown(paths: list[bytes]) -> tuple[str, ...]:
    return tuple(sorted(os.fsdecode(path) for path in paths))
