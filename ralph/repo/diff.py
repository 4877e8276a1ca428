"""What differs between two saved states of a run, read from the private store alone.

GitPython reads trees and blobs here: it walks into the directories that differ and no others. It is imported when
first needed, since it costs more than all of an iteration's own work, and looks at the private store only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ralph.errors import UserError
from ralph.repo.objects import GITLINK
from ralph.repo.policy import ENVIRONMENT
from ralph.repo.store import Store

if TYPE_CHECKING:
    from git import Repo, Tree

Status = Literal["added", "removed", "changed", "mode"]
Entry = tuple[int, bytes]
"""Mode and id of one file in a tree."""

NOT_KEPT = int(GITLINK, 8)
PATCH = ("diff-tree", "-r", "-p", "--binary", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv")
COUNTS = ("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv")


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that differs. path: "/"-separated, surrogateescape. mode: only permission or kind moved.

    added, removed: lines, None where it is binary or its content is not kept. modes: octal, 0 where it is absent.
    """

    path: str
    status: Status
    added: int | None
    removed: int | None
    old_mode: int
    new_mode: int


def tree_of(store: Store, run: str, state: str) -> str:
    """Return the tree id saved under a label ("start", "7", "7.tests"). Raises: UserError naming what there is."""
    labels = store.labels(run)
    if state not in labels:
        known = ", ".join(sorted(labels, key=_in_order)) or "none"
        raise UserError(f"no saved state {state!r} in run {run}", fix=f"Saved states: {known}.")
    return labels[state]


def diff(store: Store, run: str, a: str, b: str) -> tuple[FileChange, ...]:
    """Return the files that differ from state a to state b, by path. Raises: UserError for an unknown state."""
    old, new = tree_of(store, run, a), tree_of(store, run, b)
    if old == new:
        return ()
    counts = _line_counts(store, old, new)
    with opened(store) as repo:
        return tuple(sorted(_changes(repo, old=old, new=new, counts=counts), key=lambda change: change.path))


def patch(store: Store, run: str, a: str, b: str) -> bytes:
    """Return the unified diff from state a to state b, raw: foreign bytes, to be sanitised for a terminal.

    Raises: UserError for an unknown state, or where the store cannot be read.
    """
    old, new = tree_of(store, run, a), tree_of(store, run, b)
    told = store.git.run([*PATCH, old, new], git_dir=store.path)
    if not told.ok:
        raise UserError(f"cannot compare {a} with {b}: {told.complaint}", where=str(store.path))
    return told.out


@contextmanager
def opened(store: Store) -> Iterator[Repo]:
    """Open the private store with GitPython; its one helper process ends with the `with`.

    Its import asks `git` for its version, by whatever name it finds on PATH; a PATH that leads into the work tree would
    run what lies there. So the import sees our own git, and the environment is as before when it is done. GIT_DIR and
    its like of whoever called us would make the helper read another repository: our own environment outweighs them.
    """
    name = "GIT_PYTHON_GIT_EXECUTABLE"
    before = os.environ.get(name)
    os.environ[name] = str(store.git.program)
    try:
        import git
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
    with git.Repo(store.path, odbt=git.GitCmdObjectDB, search_parent_directories=False, expand_vars=False) as repo:
        place = {"GIT_DIR": str(store.path), "GIT_OBJECT_DIRECTORY": str(store.path / "objects")}
        repo.git.update_environment(**ENVIRONMENT, **place, GIT_COMMON_DIR=str(store.path))
        yield repo


def _changes(repo: Repo, *, old: str, new: str, counts: Mapping[str, tuple[int, int]]) -> Iterator[FileChange]:
    for path, before, after in _differing(_tree(repo, old), _tree(repo, new)):
        status: Status = "changed"
        if before is None or after is None:
            status = "added" if before is None else "removed"
        elif before[1] == after[1]:
            status = "mode"
        modes = (before[0] if before else 0, after[0] if after else 0)
        added, removed = (0, 0) if status == "mode" else counts.get(path, (None, None))
        if NOT_KEPT in modes:  # git would count the line "Subproject commit"
            added = removed = None
        yield FileChange(path, status, added, removed, *modes)


def _tree(repo: Repo, oid: str) -> Tree:
    from git import Tree

    return Tree(repo, bytes.fromhex(oid), 0o40000, "")


def _differing(old: Tree | None, new: Tree | None) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    """Yield (path, entry before, entry after) of every file that differs; equal directories are not entered."""
    before = {str(entry.path): entry for entry in old} if old is not None else {}
    after = {str(entry.path): entry for entry in new} if new is not None else {}
    for path in before.keys() | after.keys():
        was, is_now = before.get(path), after.get(path)
        if was is not None and is_now is not None and (was.mode, was.binsha) == (is_now.mode, is_now.binsha):
            continue
        old_tree = was if was is not None and was.type == "tree" else None
        new_tree = is_now if is_now is not None and is_now.type == "tree" else None
        if old_tree is not None or new_tree is not None:
            yield from _differing(old_tree, new_tree)
        old_file = (was.mode, was.binsha) if was is not None and old_tree is None else None
        new_file = (is_now.mode, is_now.binsha) if is_now is not None and new_tree is None else None
        if old_file is not None or new_file is not None:
            yield path, old_file, new_file


def _line_counts(store: Store, old: str, new: str) -> dict[str, tuple[int, int]]:
    """Return path → (lines added, removed); a binary file is absent. Raises: UserError where git cannot read it."""
    told = store.git.run([*COUNTS, old, new], git_dir=store.path)
    if not told.ok:
        raise UserError(f"cannot compare: {told.complaint}", where=str(store.path))
    found = {}
    for row in told.out.decode("utf-8", "surrogateescape").split("\0"):
        added, _, rest = row.partition("\t")
        removed, _, path = rest.partition("\t")
        if added.isdigit() and removed.isdigit():
            found[path] = (int(added), int(removed))
    return found


def _in_order(label: str) -> tuple[int, str]:
    number = label.partition(".")[0]
    return (int(number) if number.isdigit() else -1, label)
