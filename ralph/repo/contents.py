"""Bytes of single files in a saved tree: what the judges of tampering read, without reading the whole tree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ralph.repo.store import DamagedError, Store

SIZE_CAP = 1 << 20
Seen = dict[str, dict[bytes, tuple[bytes, str]]]
"""Directories read so far, by id."""
FILE_MODES = (b"100644", b"100755")


def contents_of(store: Store, tree: str, paths: Iterable[str]) -> Mapping[str, bytes | None]:
    """Return the bytes of each path; None for what is not there, is no plain file, is over 1 MiB or is damaged."""
    seen: Seen = {}
    return {path: _content(store, tree, os.fsencode(path).split(b"/"), seen) for path in paths}


def _content(store: Store, tree: str, names: list[bytes], seen: Seen) -> bytes | None:
    mode, oid = _found(store, tree, names, seen) or (b"", "")
    try:
        data = store.read_blob(oid) if mode in FILE_MODES else None
    except DamagedError:
        return None
    return data if data is None or len(data) <= SIZE_CAP else None


def _found(store: Store, tree: str, names: list[bytes], seen: Seen) -> tuple[bytes, str] | None:
    """Return mode and id of one path, None where it is not there or the tree is damaged."""
    try:
        for name in names[:-1]:
            mode, tree = _listing(store, tree, seen).get(name, (b"", ""))
            if not mode.endswith(b"40000"):
                return None
        return _listing(store, tree, seen).get(names[-1])
    except DamagedError:
        return None


def _listing(store: Store, tree: str, seen: Seen) -> dict[bytes, tuple[bytes, str]]:
    if tree not in seen:
        seen[tree] = store.read_tree(tree)
    return seen[tree]
