"""What makes a work tree the one the run began in: pinned once, compared before every step (fault C1)."""

from __future__ import annotations

import os
import stat
import weakref
from pathlib import Path

from ralph.repo.keep import Located, dotgit

# A descriptor that is open keeps its inode from being given to another directory: rm -rf .git && git init
# would otherwise often get the very same number.
HOLD = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Identity:
    """Top directory, git directory and their kind, as they were when this was made."""

    def __init__(self, place: Located) -> None:
        """Pin a place. Raises: OSError where it is already gone."""
        self._top = place.top
        self._dotgit = dotgit(place.top)
        self._git_dir = place.git_dir
        self._redirect = None if place.git_dir is None else str(place.git_dir / "commondir")
        self._commondir = _content(self._redirect)
        wanted = {
            "the work tree": place.top,
            "the git directory": place.git_dir,
            "the shared git directory": place.common_dir,
        }
        self._held: dict[str, tuple[Path, int]] = {}
        self._parts: tuple[str, ...] = ()
        self._release = weakref.finalize(self, _close, self._held)
        for what, path in wanted.items():
            if path is not None and path not in (held for held, _ in self._held.values()):
                self._held[what] = (path, os.open(path, HOLD))
        if place.git_dir is not None:
            shared = place.common_dir or place.git_dir
            self._parts = tuple(map(str, (place.git_dir / "HEAD", shared / "objects", shared / "refs")))

    def close(self) -> None:
        """Let go of the directories."""
        self._release()

    def damage(self) -> str | None:
        """Return what is no longer as it was, None if all is; one line, raw."""
        for what, (path, fd) in self._held.items():
            if (found := _differs(path, os.fstat(fd))) is not None:
                return f"{what} {path} {found}"
        if self._git_dir is None:
            return None
        return self._pointer_damage() or self._hollow()

    def _pointer_damage(self) -> str | None:
        now = dotgit(self._top)
        if now == self._dotgit:
            moved = _content(self._redirect) != self._commondir
            return f"{self._git_dir}/commondir points to another repository" if moved else None
        was, _, _ = self._dotgit.partition(" ")
        kind, _, text = now.partition(" ")
        names = {"dir": "a directory", "file": "a file", "link": "a symbolic link", "other": "no file or directory"}
        if kind == "none":
            return f"{self._top / '.git'} vanished"
        if kind == was:
            return f"{self._top / '.git'} points elsewhere now: {text.strip()[:200]}"
        return f"{self._top / '.git'} was replaced by {names[kind]}"

    def _hollow(self) -> str | None:
        """Return which part without which git sees no repository is missing."""
        gone = next((part for part in self._parts if not os.path.lexists(part)), None)
        return None if gone is None else f"{gone} vanished"


def _close(held: dict[str, tuple[Path, int]]) -> None:
    while held:
        os.close(held.popitem()[1][1])


def _differs(path: Path, pinned: os.stat_result) -> str | None:
    try:
        now = path.lstat()
    except OSError:
        return "vanished"
    if stat.S_ISLNK(now.st_mode):
        return "was replaced by a symbolic link"
    if not stat.S_ISDIR(now.st_mode):
        return "was replaced by a file"
    if (now.st_dev, now.st_ino) != (pinned.st_dev, pinned.st_ino):
        return "was replaced by another directory"
    return None if os.path.realpath(path) == str(path) else "is reached through a symbolic link now"


def _content(commondir: str | None) -> bytes | None:
    """Return the text of `commondir`, by which a git directory uses another's objects and refs."""
    try:
        return Path(commondir).read_bytes()[:4096] if commondir is not None else None
    except OSError:
        return None
