"""Builders for the repo tests: real repositories, a world around one, and an independent hash to compare with."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from ralph.repo.find import locate
from ralph.repo.git import Git, find_git
from ralph.repo.look import DEFAULT, Pace
from ralph.repo.store import Store
from ralph.repo.worktree import WorkTree


def git(top: Path, *args: str, stdin: bytes = b"", check: bool = True) -> bytes:
    """Run the user's git, as an agent or a person would."""
    done = subprocess.run(["git", *args], cwd=top, input=stdin, capture_output=True, check=check)
    return done.stdout


def repository(top: Path, files: dict[str, str] | None = None) -> Path:
    top.mkdir(parents=True, exist_ok=True)
    git(top, "init", "-q", "-b", "main")
    if files:
        write(top, files)
        git(top, "add", "-A", "-f")
        git(top, "commit", "-q", "-m", "base")
    return top


def write(top: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = top / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def age(top: Path) -> None:
    """Make every file look old, so that all of them can be compared by their stat data. Changes ctime to now."""
    for folder, _, names in os.walk(os.fsencode(top)):
        for name in names:
            if b"/.git" not in folder and name != b".git":
                os.utime(folder + b"/" + name, (1_500_000_000, 1_500_000_000), follow_symlinks=False)


@dataclass
class World:
    """A work tree opened for a run."""

    git: Git
    store: Store
    tree: WorkTree

    def id(self) -> str:
        found = self.tree.look()
        assert found.partial == ()
        return found.id


EAGER = Pace(clock_ns=lambda: time.time_ns() + 10_000_000_000, worth_tracking=0)
"""Takes every file for settled at once, so that even a short test is compared by git's index."""


def opened(
    top: Path,
    state: Path,
    *,
    ignore: tuple[str, ...] = (),
    no_git: bool = False,
    cap: int = 1 << 30,
    pace: Pace = DEFAULT,
) -> World:
    git = find_git()
    store = Store.open(state / "store.git", git)
    place = locate(top, git, no_git=no_git)
    tree = WorkTree.open(place, store, git, run="r", ignore=ignore, max_file_bytes=cap, pace=pace)
    return World(git, store, tree)


def bytes_of_git(top: Path) -> dict[str, tuple[int, bytes]]:
    """Return mode and content of everything in the git directory, to prove that nothing was written there."""
    found = {}
    for file in sorted((top / ".git").rglob("*")):
        status = file.lstat()
        if stat.S_ISREG(status.st_mode):
            found[str(file)] = (status.st_mtime_ns, file.read_bytes())
    return found


def content_hash(top: Path, names: set[bytes]) -> str:
    """Return an independent hash of the content: modes, link texts and bytes of these paths (no git in it)."""
    digest = hashlib.sha256()
    for name in sorted(names):
        place = top / os.fsdecode(name)
        status = place.lstat()
        if stat.S_ISLNK(status.st_mode):
            told = b"link " + os.fsencode(place.readlink())
        else:
            told = b"%d " % bool(status.st_mode & 0o100) + place.read_bytes()
        digest.update(b"%d %s\0%d %s\0" % (len(name), name, len(told), told))
    return digest.hexdigest()


def raw_tree(top: Path, scratch: Path, names: set[bytes]) -> str:
    """Return what `git write-tree` gives for the raw bytes of these paths, by git alone."""
    scratch.mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "GIT_DIR": str(scratch / "g"), "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", "init", "-q", "--bare", str(scratch / "g")], check=True, env=env, cwd=scratch)
    env["GIT_WORK_TREE"] = str(top)

    def asked(*args: str, stdin: bytes = b"") -> bytes:
        return subprocess.run(["git", *args], input=stdin, env=env, cwd=top, capture_output=True, check=True).stdout

    lines = []
    for name in names:
        place = top / os.fsdecode(name)
        status = place.lstat()
        link = stat.S_ISLNK(status.st_mode)
        data = os.fsencode(place.readlink()) if link else place.read_bytes()
        mode = b"120000" if link else b"100755" if status.st_mode & 0o100 else b"100644"
        oid = asked("hash-object", "-w", "--no-filters", "--stdin", stdin=data).strip()
        lines.append(b"%s %s\t%s\0" % (mode, oid, name))
    asked("read-tree", "--empty")
    asked("update-index", "-z", "--index-info", stdin=b"".join(lines))
    return asked("write-tree").decode().strip()
