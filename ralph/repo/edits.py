"""How each changed file changed, line by line: what the judges of churn compare over iterations."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping

from ralph.facts.tree import Edit
from ralph.judge.churn import line_keys
from ralph.repo.objects import GITLINK
from ralph.repo.store import DamagedError, Store

FILES_KEPT = 60
READ_BYTES = 256 << 10
FILES = (b"100644", b"100755")

Entry = tuple[bytes, str]
Pair = tuple[Entry | None, Entry | None]


def edits_of(store: Store, pairs: Mapping[bytes, Pair]) -> tuple[Edit, ...]:
    """Return the edits of the first files by path. pairs: entry before and after, None where there is none."""
    return tuple(_edit(store, path, pairs[path]) for path in sorted(pairs)[:FILES_KEPT])


def _edit(store: Store, path: bytes, pair: Pair) -> Edit:
    old, new = pair
    name = os.fsdecode(path)
    was, now = _id(old), _id(new)
    mode = old is not None and new is not None and old[0] != new[0]
    sides = _lines(store, old), _lines(store, new)
    if sides[0] is None or sides[1] is None:
        return Edit(name, was, now, None, None, mode=mode)
    before, after = Counter(sides[0]), Counter(sides[1])
    plus, minus = after - before, before - after
    return Edit(
        name, was, now, plus.total(), minus.total(), line_keys(plus.elements()), line_keys(minus.elements()), mode=mode
    )


def _id(entry: Entry | None) -> str:
    return "" if entry is None or entry[0] == GITLINK else entry[1]


def _lines(store: Store, entry: Entry | None) -> list[str] | None:
    """Return the lines of a text, None for what is no text, too long or damaged."""
    if entry is None:
        return []
    try:
        data = store.read_blob(entry[1]) if entry[0] in FILES else b"\0"
    except DamagedError:
        return None
    return None if b"\0" in data[:8000] or len(data) > READ_BYTES else data.decode("utf-8", "replace").splitlines()
