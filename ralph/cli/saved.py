"""Saved states of a run, as `diff` and `restore` name them: start, N, N.tests, best, now."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ralph.cli.pick import places_of, story_of
from ralph.errors import UserError
from ralph.facts.settings import Settings
from ralph.journal.codec import from_json
from ralph.journal.lock import alive_holder
from ralph.journal.places import Places, RunDir
from ralph.journal.story import Story
from ralph.repo.find import git_dir_of, locate
from ralph.repo.git import Git, find_git
from ralph.repo.restore import saving
from ralph.repo.store import Store
from ralph.repo.worktree import WorkTree

NOW = "now"


@dataclass(frozen=True, slots=True)
class Saved:
    """A run, its store, and the work tree it belongs to (which may be gone)."""

    places: Places
    paper: RunDir
    story: Story
    store: Store
    git: Git
    top: Path

    def label(self, state: str) -> str:
        """Return the label of a state; "now" is looked at and saved first. Raises: UserError where there is none."""
        if state == NOW:
            self.present(NOW)
            return NOW
        if state != "best":
            return state
        best = self.story.best
        if best is None:
            raise UserError("no iteration of this run ran tests, so none is best", where="best")
        return str(best.number) if best.number else "start"

    def present(self, label: str) -> str:
        """Save the work tree as it is now, with the ignore rules of the run; return the id of its tree."""
        settings = from_json(Settings, self.story.settings)
        plain = settings.run.no_git or not has_repository(self.top)
        tree = WorkTree.open(
            locate(self.top, self.git, no_git=plain),
            self.store,
            self.git,
            run=self.paper.id,
            ignore=settings.tree.ignore,
            max_file_bytes=settings.snapshot.max_bytes,
        )
        return saving(tree, self.store, self.paper.id)(label)

    def alive(self) -> str:
        """Return who runs in the tree now, "" for nobody."""
        if not self.top.is_dir():
            return ""
        holder = alive_holder(self.top, note=self.places.holder_of(self.top))
        return "" if holder is None else f"pid {holder.pid}, run {holder.run or 'unknown'}"


def has_repository(top: Path) -> bool:
    """Return whether a repository is there now; whatever an agent put in its place is none."""
    try:
        return git_dir_of(top) is not None
    except OSError:
        return False


def saved_of(run: str | None, directory: str, state_dir: str | None) -> Saved:
    """Return the saved states of a run. Raises: UserError naming the runs there are."""
    places = places_of(directory, state_dir)
    paper = places.find(run)
    story, git = story_of(paper), find_git()
    top = story.repo.get("top")
    return Saved(
        places, paper, story, Store.open(places.store, git), git, Path(top if isinstance(top, str) else os.devnull)
    )
