"""The work tree of a run: the port `Repo`, made of a look, a saver and the private store."""

from __future__ import annotations

import os
import secrets
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from ralph.facts.finding import Finding
from ralph.facts.tree import Changes, Tree
from ralph.repo.changes import Comparison
from ralph.repo.contents import contents_of
from ralph.repo.find import Place
from ralph.repo.git import Git
from ralph.repo.head import head_of
from ralph.repo.ignoring import BUILT_IN, Excludes
from ralph.repo.look import DEFAULT, Look, Means, Pace, Site
from ralph.repo.saving import Saver, digest_of
from ralph.repo.store import Store

REMEMBERED = 256
SHOWN = 200
STALE_NS = 1_000_000_000
"""A look that was begun so long ago is begun anew."""


class Watched(Protocol):
    """Watches what lies around the work tree: identity, git configuration, HEAD, merges, locks."""

    def damage(self) -> str | None:
        """Return why this is no longer the repository the run began in, None if it is."""
        ...

    def findings(self) -> tuple[Finding, ...]:
        """Return observations new since the last call."""
        ...

    def vanished(self, before_paths: Collection[str], after_paths: Collection[str]) -> tuple[Finding, ...]:
        """Return the start's files that are gone now and were not told before; all gone is damage from here on."""
        ...


class WorkTree:
    """Open with `WorkTree.open`. Nothing in the user's work tree or git directory is ever written."""

    def __init__(self, place: Place, *, run: str, top: Look, saver: Saver, watched: Watched | None) -> None:
        self.place = place
        self._run = run
        self._top = top
        self._saver = saver
        self._watched = watched
        self._git = top.means.git
        self._store = top.means.store
        self._comparison = Comparison(self._store)
        self._newest: Tree | None = None
        self._begun_ns = 0
        self._saved: OrderedDict[str, str] = OrderedDict()
        """Tree id -> id of the saved tree, the newest `REMEMBERED`."""
        self._labelled = frozenset(self._store.labels(run).values())
        """Trees that an earlier session of this run saved. That the store has a tree proves nothing of its files."""

    @classmethod
    def open(
        cls,
        place: Place,
        store: Store,
        git: Git,
        *,
        run: str,
        ignore: tuple[str, ...],
        max_file_bytes: int,
        left_out: tuple[str, ...] = (),
        watched: Watched | None = None,
        pace: Pace = DEFAULT,
    ) -> WorkTree:
        """Freeze the ignore rules and make ready to look.

        ignore: patterns of `--ignore`. left_out: files that agents write for themselves. Both also leave out what is
        tracked. max_file_bytes: larger files are not saved. Raises: UserError (storage).
        """
        built_in = BUILT_IN if place.git_dir is None else ()
        excludes = Excludes.frozen(git, store.path, common_dir=place.common_dir, lines=(*built_in, *left_out, *ignore))
        site = Site(place.top, place.git_dir, excludes.own)
        top = Look(site, Means(store, git, excludes, pace))
        return cls(place, run=run, top=top, saver=Saver(store, most_bytes=max_file_bytes), watched=watched)

    @property
    def top(self) -> Path:
        """Return the top directory, real path."""
        return self.place.top

    def begin_look(self) -> None:
        """Begin the next look now, beside what is done until then; `forget_look` where that may change the tree."""
        self._begun_ns = self._top.means.pace.clock_ns()
        self._top.begin()

    def forget_look(self) -> None:
        """Drop a look that was begun."""
        self._begun_ns = 0
        self._top.drop()

    def _begun_at(self) -> int:
        """Return the wall time from which on the look that is now taken knows of changes."""
        begun_ns, now_ns = self._begun_ns, self._top.means.pace.clock_ns()
        self._begun_ns = 0
        if 0 <= now_ns - begun_ns <= STALE_NS:
            return begun_ns
        self._top.drop()
        return now_ns

    def look(self, *, test_owned: frozenset[str] = frozenset()) -> Tree:
        """Return the exact fingerprint now. Raises: UserError (storage)."""
        now_ns = self._begun_at()
        head = head_of(self.place.git_dir, self.place.common_dir, self._git)
        self._top.take(now_ns)
        tree, partial = self._top.tree, tuple(sorted(set(self._top.troubles)))
        oid = tree.oid()
        files = tree.root.files
        state = tree.without(frozenset(map(os.fsencode, test_owned))) if test_owned else oid
        nonce = secrets.token_bytes(8) if partial else b""
        self._newest = Tree(
            id=digest_of(nonce, oid) if nonce else oid.hex(),
            state=digest_of(nonce, state) if nonce else state.hex(),
            head=head.commit,
            branch=head.branch,
            partial=partial,
            files=files,
        )
        return self._newest

    def save(self, tree: Tree, label: str) -> None:
        """Keep the content last looked at under a label; an older tree must have been saved before.

        A file that changed since it was looked at, or is over the cap, is kept by name alone: see `unsaved`.
        Raises: UserError (storage).
        """
        if self._saved_as(tree) is None:
            assert self._newest is not None and tree.id == self._newest.id, "only the newest look can be saved"  # noqa: PT018
            self._saved[tree.id] = self._saver.save(self._top)
            while len(self._saved) > REMEMBERED:
                self._saved.popitem(last=False)
        saved = self._saved_as(tree)
        assert saved is not None
        self._store.label(self._run, label, saved)

    def changes(self, before: Tree, after: Tree, *, closely: bool = False) -> Changes:
        """Return what differs between two saved trees; nothing is known of one that was not saved."""
        first, second = self._saved_as(before), self._saved_as(after)
        assert first is not None, f"tree {before.id} was not saved"
        assert second is not None, f"tree {after.id} was not saved"
        found = self._comparison.changes(first, second)
        return replace(found, edits=self._comparison.edits(first, second)) if closely else found

    def contents(self, tree: Tree, paths: Iterable[str]) -> Mapping[str, bytes | None]:
        """Return the bytes of files in a saved tree; None for what is not there, no plain file, or over 1 MiB."""
        saved = self._saved_as(tree)
        assert saved is not None, f"tree {tree.id} was not saved"
        return contents_of(self._store, saved, paths)

    def moved_since_last_look(self) -> bool:
        """Return whether a path moved since the last look: stat data only, for the idle rule."""
        return self._top.has_moved()

    def unsaved(self) -> tuple[str, ...]:
        """Return what a restore could not bring back, as "PATH: why": ignored files, and files not kept."""
        ignored = self._top.private.ignored() or ()
        told = [f"{os.fsdecode(path)}: ignored" for path in ignored[:SHOWN]]
        if len(ignored) > SHOWN:
            told.append(f"{len(ignored) - SHOWN} more: ignored")
        return (*told, *(f"{os.fsdecode(path)}: {why}" for path, why in sorted(self._saver.lost.items())))

    def damage(self) -> str | None:
        """Return why this is no longer the repository the run began in, None if it is."""
        return self._watched.damage() if self._watched else None

    def findings(self) -> tuple[Finding, ...]:
        """Return git configuration, HEAD, merge and lock observations new since the last call."""
        return self._watched.findings() if self._watched else ()

    def vanished(self, start: Tree, tree: Tree) -> tuple[Finding, ...]:
        """Return which files of the start are gone, each told once; from an emptied tree on, `damage` says so."""
        first, second = self._saved_as(start), self._saved_as(tree)
        if self._watched is None or first is None or second is None:
            return ()
        gone = self._comparison.gone(first, second)
        return self._watched.vanished(gone, (".",) if tree.files else ())

    def _saved_as(self, tree: Tree) -> str | None:
        return tree.id if tree.id in self._labelled else self._saved.get(tree.id)
