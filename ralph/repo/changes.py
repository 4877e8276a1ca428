"""What differs between two trees of the store: names and line counts, by plumbing that runs nothing."""

from __future__ import annotations

import os

from ralph.facts.tree import Changes
from ralph.repo.objects import GITLINK
from ralph.repo.store import DamagedError, Store

COMMAND = ("diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--raw", "--numstat")
TIMEOUT_S = 120.0


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
