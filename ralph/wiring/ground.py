"""The repository side of a run: the tree locked, watched, looked at and saved, before anything may change it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ralph.agents import ADAPTERS
from ralph.facts.settings import Settings
from ralph.facts.tree import Tree
from ralph.journal.lock import Holder, TreeLock
from ralph.journal.places import Places, RunDir
from ralph.process.clock import SystemClock
from ralph.repo.find import Place
from ralph.repo.git import Git
from ralph.repo.keep import keep_all
from ralph.repo.store import Store
from ralph.repo.watchlist import Watchlist
from ralph.repo.worktree import WorkTree


@dataclass(frozen=True, slots=True)
class Ground:
    """A tree that is ours for the length of the run. holder: this process, for the record."""

    place: Place
    places: Places
    paper: RunDir
    lock: TreeLock
    store: Store
    tree: WorkTree
    holder: Holder

    def damage(self) -> str | None:
        """Return why this is no longer the tree the run began in, None if it is."""
        if not self.lock.is_ours:
            return "the work tree under this path is not the one that was locked"
        return self.tree.damage()


def take_ground(
    place: Place,
    git: Git,
    *,
    places: Places,
    paper: RunDir,
    settings: Settings,
    environ: Mapping[str, str],
    stack: ExitStack,
) -> Ground:
    """Lock the tree and make ready to look at it. Raises: UserError (locked, refused, storage)."""
    holder = Holder.me(paper.id, now=SystemClock().now())
    lock = stack.enter_context(TreeLock.take(place.top, holder, note=places.holder_of(place.top)))
    store = Store.open(places.store, git)
    watched = Watchlist(place, git, user_files=user_git_files(environ))
    stack.callback(watched.close)
    tree = WorkTree.open(
        place,
        store,
        git,
        run=paper.id,
        ignore=settings.tree.ignore,
        max_file_bytes=settings.snapshot.max_bytes,
        left_out=tuple(path for adapter in ADAPTERS.values() for path in adapter.abilities.writes),
        watched=watched,
    )
    stack.callback(tree.forget_look)
    return Ground(place, places, paper, lock, store, tree, holder)


def user_git_files(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the user's own git configuration files that exist, watched like the repository's."""
    home = environ.get("HOME", "")
    config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")  # noqa: PTH118 - may be ""
    return tuple(p for p in (Path(home, ".gitconfig"), Path(config, "git", "config")) if p.is_absolute() and p.exists())


@dataclass(frozen=True, slots=True)
class Start:
    """The tree as the run found it. unsaved: what a restore could not bring back, in lines. digest: of git."""

    tree: Tree
    unsaved: tuple[str, ...]
    digest: str


def save_start(ground: Ground, settings: Settings) -> Start:
    """Save the tree and the git state as they are now."""
    start = ground.tree.look()
    ground.tree.save(start, "start")
    kept = keep_all(
        ground.place,
        ground.store,
        ground.paper.id,
        tree=ground.store.labels(ground.paper.id)["start"],
        also=settings.snapshot.also,
        max_bytes=settings.snapshot.max_bytes,
    )
    return Start(start, (*ground.tree.unsaved(), *kept.left_out, *kept.notes), kept.digest)
