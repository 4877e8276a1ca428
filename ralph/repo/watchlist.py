"""Watches what an agent can do to a repository besides its content: damage ends a run, findings are told once.

Nothing is ever put back, and none of these findings keeps `done` off: they are for the person's eye.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from ralph.facts.finding import Finding
from ralph.repo.git import Git
from ralph.repo.gitconfig import Settings, changed, read_settings
from ralph.repo.identity import Identity
from ralph.repo.keep import Located
from ralph.repo.refs import SYMBOLIC, RefReader, Refs
from ralph.repo.rooted import Rooted

KINDS = {
    "git-config": "git configuration that can run a program or change what the repository is was changed",
    "git-hook": "a hook that git would run appeared or changed",
    "git-file": "a file that shapes the repository (alternates, attributes, grafts, shallow) appeared or changed",
    "branch-changed": "HEAD is on another branch",
    "head-detached": "HEAD is on no branch",
    "history-rewritten": "a branch no longer contains the commit it stood on",
    "branch-deleted": "a branch or tag is gone",
    "commits-orphaned": "commits are on no branch, tag or remote any more",
    "remote-moved": "a remote-tracking branch moved: something was pushed or fetched",
    "stash-changed": "the stash changed",
    "unfinished": "a merge, rebase, cherry-pick, revert or bisect was left unfinished",
    "lock-left": "a lock file of git lies there and no process holds it: git commands that write will fail",
    "files-vanished": "files that were there at the start are gone",
}
"""Every kind of finding of this room, with the sentence for `ralph explain`."""

UNFINISHED = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "BISECT_LOG": "bisect",
}
SHAPING_FILES = ("objects/info/alternates", "info/attributes", "info/grafts", "info/sparse-checkout", "shallow")
LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock")
ASKED_BRANCHES = 50
SHOWN = 20
Mark = tuple[int, ...]


class Watchlist:
    """Sees one repository from the moment this is made. Raises: OSError where the place is already gone."""

    def __init__(
        self, place: Located, git: Git, *, user_files: tuple[Path, ...] = (), now: Callable[[], float] = time.time
    ) -> None:
        """Pin identity and look once, so that what is there already is no news.

        user_files: configuration of the user that git also obeys (~/.gitconfig), watched alike.
        now: wall seconds, only to tell the age of a lock.
        """
        self._git = git
        self._now = now
        self._identity = Identity(place)
        self._git_dir = place.git_dir
        self._common_dir = place.common_dir or place.git_dir
        self._emptied = False
        self._missed: set[str] = set()
        self._locks: set[tuple[str, int]] = set()
        self._settings: dict[Path, tuple[Mark, Settings | None]] = {}
        if self._git_dir is None or self._common_dir is None:
            return
        self._files = (self._common_dir / "config", self._git_dir / "config.worktree", *user_files)
        self._reader = RefReader(self._git_dir, self._common_dir)
        self._refs = self._reader.read(git)
        self._hooks = self._executable_hooks()
        self._shaping = self._shaping_marks()
        self._open = self._unfinished()
        self._locks = {(name, inode) for name, inode, _ in self._locks_there(self._refs)}
        for file in self._files:
            self._settings[file] = (_mark(file), self._read(file))

    def close(self) -> None:
        """Let go of the pinned directories."""
        self._identity.close()

    def damage(self) -> str | None:
        """Return why this is no longer the repository the run began in (C1, R077), None if it is."""
        return self._identity.damage() or ("every file of the work tree vanished" if self._emptied else None)

    def findings(self) -> tuple[Finding, ...]:
        """Return what is new since the last call; nothing is reported twice. Never raises for content."""
        if self._git_dir is None or self._identity.damage() is not None:
            return ()
        refs = self._reader.read(self._git)
        found = [*self._new_settings(), *self._new_hooks(), *self._new_shaping(), *self._new_head(refs)]
        found += [*self._new_refs(refs), *self._new_unfinished(), *self._new_locks(refs)]
        self._refs = refs
        return tuple(found)

    def vanished(self, before_paths: Collection[str], after_paths: Collection[str]) -> tuple[Finding, ...]:
        """Return the start's files that are gone now and were not told before; all gone is damage from here on."""
        self._emptied = bool(before_paths) and not after_paths
        gone = set(before_paths) - set(after_paths)
        fresh = sorted(gone - self._missed)
        self._missed = gone
        if not fresh:
            return ()
        return (Finding("files-vanished", f"{len(fresh)} gone: {_few(fresh)}", tuple(fresh)),)

    def _read(self, file: Path) -> Settings | None:
        assert self._git_dir is not None, "asked only with a repository"
        return read_settings(self._git, file, git_dir=self._git_dir) if file.exists() else {}

    def _new_settings(self) -> Iterator[Finding]:
        for file in self._files:
            mark, old = self._settings[file]
            if (now := _mark(file)) == mark:
                continue
            new = self._read(file)
            self._settings[file] = (now, old if new is None else new)
            if new is None:
                yield Finding("git-config", f"{file} cannot be read by git any more", (str(file),))
                continue
            told = changed(old or {}, new)
            if told:
                yield Finding("git-config", "; ".join(told.values()), tuple(told))

    def _new_hooks(self) -> Iterator[Finding]:
        old, self._hooks = self._hooks, self._executable_hooks()
        fresh = sorted(name for name, mark in self._hooks.items() if old.get(name) != mark)
        if fresh:
            yield Finding("git-hook", f"executable: {_few(fresh)}", tuple(fresh))

    def _executable_hooks(self) -> dict[str, Mark]:
        assert self._common_dir is not None, "asked only with a repository"
        with Rooted(self._common_dir) as common:
            listed = common.entries("hooks")
        # A link is followed by git, so it counts whatever it points to.
        return {
            f"hooks/{name}": _numbers(status)
            for name, status in listed
            if not name.endswith(".sample") and not stat.S_ISDIR(status.st_mode) and status.st_mode & 0o111
        }

    def _new_shaping(self) -> Iterator[Finding]:
        old, self._shaping = self._shaping, self._shaping_marks()
        fresh = sorted(name for name, mark in self._shaping.items() if old[name] != mark)
        if fresh:
            yield Finding("git-file", f"changed: {_few(fresh)}", tuple(fresh))

    def _shaping_marks(self) -> dict[str, Mark]:
        assert self._common_dir is not None, "asked only with a repository"
        return {name: _mark(self._common_dir / name) for name in SHAPING_FILES}

    def _new_head(self, refs: Refs) -> Iterator[Finding]:
        if refs.head == self._refs.head:
            return
        was, is_now = _named(self._refs), _named(refs)
        if refs.branch is not None and refs.branch != self._refs.branch:
            yield Finding("branch-changed", f"{was} -> {is_now}", tuple(sorted((was, is_now))))
        elif refs.branch is None and self._refs.branch is not None:
            yield Finding("head-detached", f"{was} -> {is_now}", tuple(sorted((was, is_now))))
        if self._refs.branch is None and self._refs.commit is not None:
            yield from self._orphaned(self._refs.commit)

    def _new_refs(self, refs: Refs) -> Iterator[Finding]:
        old, new = self._refs.all, refs.all
        moved = sorted(name for name in old if new.get(name) != old[name])
        gone = [name for name in moved if name not in new and name.startswith(("refs/heads/", "refs/tags/"))]
        if gone:
            yield Finding("branch-deleted", f"gone: {_few(gone)}", tuple(gone))
        for name in gone[:ASKED_BRANCHES]:
            yield from self._orphaned(old[name])
        branches = [name for name in moved if name.startswith("refs/heads/") and name in new]
        for name in branches[:ASKED_BRANCHES]:
            if self._rewritten(old[name], new[name]):
                told = f"{name}: {old[name][:12]} is no longer in its history, now {new[name][:12]}"
                yield Finding("history-rewritten", told, (name,))
        remotes = sorted(
            n for n in old.keys() | new.keys() if n.startswith("refs/remotes/") and old.get(n) != new.get(n)
        )
        if remotes:
            yield Finding("remote-moved", f"moved: {_few(remotes)}", tuple(remotes))
        if old.get("refs/stash") != new.get("refs/stash"):
            how = "a stash was left" if "refs/stash" in new else "the stash is gone"
            yield Finding("stash-changed", how, ("refs/stash",))

    def _rewritten(self, old: str, new: str) -> bool:
        if old.startswith(SYMBOLIC) or new.startswith(SYMBOLIC):
            return False
        asked = self._git.run(["merge-base", "--is-ancestor", old, new], git_dir=self._git_dir, timeout_s=10.0)
        return not asked.cut and asked.code != 0

    def _orphaned(self, commit: str) -> Iterator[Finding]:
        """Say which commits below this one nothing names any more (R079)."""
        args = ["rev-list", "--max-count=100", commit, "--not", "--branches", "--tags", "--remotes", "--"]
        listed = self._git.run(args, git_dir=self._git_dir, timeout_s=10.0)
        ids = listed.out.decode("ascii", "replace").split() if listed.ok else []
        if ids:
            yield Finding("commits-orphaned", f"{len(ids)}: {_few([i[:12] for i in ids])}", tuple(sorted(ids)))

    def _new_unfinished(self) -> Iterator[Finding]:
        old, self._open = self._open, self._unfinished()
        for what in sorted(self._open - old):
            yield Finding("unfinished", f"a {what} is unfinished", (what,))

    def _unfinished(self) -> frozenset[str]:
        assert self._git_dir is not None, "asked only with a repository"
        return frozenset(what for name, what in UNFINISHED.items() if os.path.lexists(self._git_dir / name))

    def _new_locks(self, refs: Refs) -> Iterator[Finding]:
        """C6, R080: a lock that nobody holds; never deleted, whoever left it."""
        for name, inode, age_s in self._locks_there(refs):
            if (name, inode) not in self._locks and not _is_open(inode):
                self._locks.add((name, inode))
                yield Finding("lock-left", f"{name}, {max(0, round(age_s))} s old, no process holds it", (name,))

    def _locks_there(self, refs: Refs) -> Iterator[tuple[str, int, float]]:
        assert self._git_dir is not None, "asked only with a repository"
        assert self._common_dir is not None, "asked only with a repository"
        places = {self._git_dir / name for name in LOCKS} | {self._common_dir / name for name in (*LOCKS, *refs.locks)}
        for path in sorted(places):
            try:
                status = path.lstat()
            except OSError:
                continue
            inside = self._common_dir if self._common_dir in path.parents else self._git_dir
            yield path.relative_to(inside).as_posix(), status.st_ino, self._now() - status.st_mtime


def _named(refs: Refs) -> str:
    return (refs.branch or "").removeprefix("refs/heads/") or refs.head[:12] or "nothing"


def _few(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _mark(path: Path) -> Mark:
    try:
        return _numbers(path.lstat())
    except OSError:
        return ()


def _numbers(status: os.stat_result) -> Mark:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode


def _is_open(inode: int) -> bool:
    """Tell whether a process that we may look at has a file with this inode open; False where /proc is missing."""
    try:
        holders = [Path(entry.path, "fd") for entry in os.scandir("/proc") if entry.name.isdigit()]
    except OSError:
        return False
    for holder in holders:
        with suppress(OSError), os.scandir(holder) as listed:
            for fd in listed:
                with suppress(OSError):
                    if fd.stat().st_ino == inode:
                        return True
    return False
