"""Brings a saved state of a run back into the work tree, and on demand the git directory the run began with.

The present is saved first, so that nothing is lost; files are written by our own hand, inside the root only, and
nothing is executed: no smudge filter, no hook. Ignored files are left alone, but for those that were saved.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.facts.tree import Tree
from ralph.repo.diff import tree_of
from ralph.repo.gitback import Returned, bring_back
from ralph.repo.keep import keep_git, keep_modes, kept_folder, kept_modes
from ralph.repo.keeping import Keeping
from ralph.repo.kept import KeptDamageError, Manifest, Root, read_manifest
from ralph.repo.rooted import Rooted
from ralph.repo.store import DamagedError, Store
from ralph.repo.writeback import Files, Modes, Writer, Written

START = "start"
Present = Callable[[str], str]
"""Saves the work tree as it is now under a label, and returns the id of its tree in the store."""


class Looking(Protocol):
    """The part of the port `Repo` that saves the present."""

    def look(self) -> Tree: ...
    def save(self, tree: Tree, label: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did. state: as asked. saved_as: label of the present before it, "" if there was nothing.

    files: of the work tree, see `Written`. git: of the git directory, None where it was not asked for. notes: raw.
    """

    state: str
    saved_as: str
    files: Written
    git: Returned | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return whether everything asked for is back."""
        files = self.files
        return not (files.blocked or files.unsaved or files.damaged or (self.git is not None and self.git.damaged))


def saving(repo: Looking, store: Store, run: str) -> Present:
    """Return the `present` that looks with the run's own fingerprint. repo: opened for that store and run."""

    def save(label: str) -> str:
        repo.save(repo.look(), label)
        return store.labels(run)[label]

    return save


def restore(
    top: Path,
    store: Store,
    run: str,
    state: str,
    *,
    present: Present,
    git: bool = False,
    alive: str = "",
    at: datetime | None = None,
    max_bytes: int = 1 << 30,
    digest: str | None = None,
) -> Restored:
    """Make the work tree hold what it held in a state: a label of the run, "start", "7", "7.tests", "before-restore-…".

    top: real path; made anew if it is gone. present: called only where something is there to save. git: bring the git
    directory back as well, as it was at the start of the run (or before that restore). alive: who runs in this tree,
    "" for nobody. at: the moment, for the label. max_bytes: of one file that is set aside, and of copies of packs.
    digest: of the kept git state, from the journal; None where it is not known.
    Raises: UserError (locked, usage, storage, repo-damaged), mostly before anything is changed.
    """
    if alive:
        raise UserError(f"a run is at work in {top}: {alive}", fix="Stop it first: ralph stop", reason=Reason.LOCKED)
    target = _entries(store, tree_of(store, run, state))
    folder = kept_folder(store, run)
    kept = _kept_git(folder, state, digest=digest) if git else None
    label = f"before-restore-{(at or datetime.now(UTC)).strftime('%Y%m%dT%H%M%S.%f')}"
    there = _make_top(top)
    now = _entries(store, present(label)) if there else {}
    before = folder / label
    before.mkdir(mode=0o700)
    keep_modes(top, before / "modes.json", paths=map(os.fsdecode, now))
    returned = None
    if kept is not None:
        was = _Was(top, kept)
        saved = keep_git(was, before / "git", max_bytes=max_bytes, nested=was.nested, earlier=kept.folder)
        if saved.left_out:
            raise UserError(
                f"of the git directory as it is now this cannot be saved first: {', '.join(saved.left_out[:5])}",
                fix="Give it room (snapshot.max_bytes), or move it away, then restore again.",
                reason=Reason.STORAGE,
            )
        returned = bring_back(kept, top)
    files = _write_files(top, store, state, folder=folder, target=target, now=now, label=label, cap_bytes=max_bytes)
    return Restored(state, label if there else "", files, returned, tuple(_notes(top, state, git=git)))


def _write_files(
    top: Path, store: Store, state: str, *, folder: Path, target: Files, now: Files, label: str, cap_bytes: int
) -> Written:
    roots, facts = (Root(str(top)),), {"top": str(top)}
    aside = Keeping(folder / label / "ignored", roots=roots, facts=facts, max_bytes=cap_bytes, is_git=False)
    with Rooted(top) as root, aside:
        writer = Writer(root, now=now, aside=aside, modes=_modes(folder, state), cap_bytes=cap_bytes)
        writer.write_tree(target, store)
        for kept, missing_only in _kept_files(folder, state):
            writer.write_kept(kept, missing_only=missing_only)
    return writer.told


def _modes(folder: Path, state: str) -> Modes:
    """Return the bits written down for a state; of a numbered one nothing is, so the start's odd ones must do."""
    at = folder / "modes.json" if state == START else folder / state / "modes.json"
    return Modes(kept_modes(at), True) if at.exists() else Modes(kept_modes(folder / "modes.json"))


def _kept_files(folder: Path, state: str) -> list[tuple[Manifest, bool]]:
    """Return the kept ignored files to write: those of the state, and the start's where they are missing now.

    At a numbered state it is unknown what they held, so one that is there stays.
    """
    found: list[tuple[Manifest, bool]] = []
    for at, missing_only in ((folder / state / "ignored", False), (folder / "ignored", state != START)):
        try:
            found.append((read_manifest(at), missing_only))
        except FileNotFoundError:
            continue
        except KeptDamageError as error:
            raise UserError(str(error), reason=Reason.STORAGE) from error
    return found


def _kept_git(folder: Path, state: str, *, digest: str | None) -> Manifest:
    own = folder / state / "git"
    try:
        return read_manifest(own) if own.is_dir() else read_manifest(folder / "git", digest=digest)
    except FileNotFoundError as error:
        raise UserError("this run kept no git state", fix="Restore the files alone, without --git.") from error
    except KeptDamageError as error:
        raise UserError(str(error), reason=Reason.STORAGE) from error


def _entries(store: Store, tree: str) -> Files:
    try:
        return store.entries(tree)
    except DamagedError as error:
        raise UserError(f"the saved state is damaged: {error}", where=str(store.path), reason=Reason.STORAGE) from error


def _make_top(top: Path) -> bool:
    """Return whether the top is there; make it if it is gone. Raises: UserError where a link leads to it."""
    there = os.path.lexists(top)
    if not there:
        top.mkdir(parents=True)
    if os.path.realpath(top) != str(top) or not top.is_dir():
        raise UserError(
            f"{top} is not the directory it was",
            fix="Remove the link or file that was put in its place, then restore again.",
            reason=Reason.REPO_DAMAGED,
        )
    return there


def _notes(top: Path, state: str, *, git: bool) -> list[str]:
    if git and state != START and not state.startswith("before-restore-"):
        return ["git state is kept at the start of a run only, so refs, HEAD and index are those of the start"]
    if not git and not os.path.lexists(top / ".git"):
        return ["there is no .git here; restore again with --git to bring it back"]
    return []


class _Was:
    """A place as a kept git state describes it."""

    def __init__(self, top: Path, kept: Manifest) -> None:
        directories = [Path(root.base, root.prefix) for root in kept.roots]
        own = kept.facts.get("git_dir", "")
        self.top = top
        self.git_dir = Path(own) if own else None
        self.common_dir = directories[0] if directories else None
        self.nested = [path.parent for path in directories if path.name == ".git" and top in path.parent.parents]
