"""A git directory of ours with the user's work tree pointed at it: finds the paths worth reading, for `look`.

Its index holds raw ids and the stat data of our own reading, its HEAD the same tree, so that `status` lists just what
moved since; its configuration and attributes are ours, so git runs nothing and converts nothing. git may refresh this
index and keep its untracked cache in it: that is what makes a look cheaper than a plain `git status`.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ralph.repo.git import Git, GitResult, Running
from ralph.repo.gitdir import make_git_directory, write_whole
from ralph.repo.merkle import Merkle, Node, hashed, keep
from ralph.repo.objects import object_id
from ralph.repo.store import Store

TIMEOUT_S = 120.0

STATUS = ("status", "--porcelain=v2", "-z", "--ignore-submodules=all", "--no-renames", "--no-ahead-behind")


@dataclass(frozen=True, slots=True)
class Listed:
    """What `status` names: tracked paths that may have changed, untracked files, and nested repositories."""

    changed: tuple[bytes, ...] = ()
    untracked: tuple[bytes, ...] = ()
    nested: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One file for the index. content: six digits of mode and 20 bytes of id. status: None makes git read it once."""

    path: bytes
    content: bytes
    status: os.stat_result | None


class Private:
    """One such directory. path: in the state directory. top: the work tree."""

    def __init__(self, path: Path, *, top: Path, store: Store, git: Git) -> None:
        self.path = path
        self.top = top
        self._store = store
        self._git = git
        self._env = {"GIT_OBJECT_DIRECTORY": str(store.path / "objects"), "GIT_OPTIONAL_LOCKS": "1"}

    def lay_out(self, exclude: bytes) -> None:
        """Make the directory, with nothing tracked. exclude: the lines of its `info/exclude`. Raises: OSError."""
        make_git_directory(self.path, objects=False)
        self._git.adopt(self.path)
        write_whole(self.path / "info" / "exclude", exclude)
        self.forget()

    def forget(self) -> None:
        """Track nothing, as at the start. Raises: OSError."""
        for name in ("index", "index.lock"):
            (self.path / name).unlink(missing_ok=True)
        write_whole(self.path / "HEAD", b"ref: refs/heads/none\n")

    def unlock(self) -> None:
        """Take away the lock that a git of ours left when it was killed. Raises: OSError."""
        (self.path / "index.lock").unlink(missing_ok=True)

    def status(self, *, cached: bool = True) -> GitResult:
        """Return what `git status` says. cached: its untracked cache may be used."""
        return self.begin(cached=cached).finish()

    def begin(self, *, cached: bool = True) -> Running:
        """Start `git status`."""
        extra = {} if cached else {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.untrackedCache"}
        if not cached:
            extra["GIT_CONFIG_VALUE_0"] = "false"
        return self._git.begin(
            STATUS, git_dir=self.path, work_tree=self.top, timeout_s=TIMEOUT_S, extra_env={**self._env, **extra}
        )

    def names(self, index: Path, git_dir: Path) -> frozenset[bytes] | None:
        """Return the paths in the user's index, None if git cannot read it.

        First without the repository, whose configuration an agent can break; an index that is split or sparse
        needs its own directory.
        """
        for place in (self.path, git_dir):
            told = self._git.run(["ls-files", "-z", "--cached"], git_dir=place, index=index, work_tree=self.top)
            if told.ok:
                return frozenset(told.out.split(b"\0")) - {b""}
        return None

    def ignored(self) -> tuple[bytes, ...] | None:
        """Return ignored files and (ending in "/") folders of nothing but such, None if git failed."""
        command = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]
        told = self._git.run(command, git_dir=self.path, work_tree=self.top, timeout_s=TIMEOUT_S, extra_env=self._env)
        return tuple(name for name in told.out.split(b"\0") if name) if told.ok else None

    def track(self, rows: list[Row]) -> None:
        """Make these files the ones that are compared from now on. Raises: OSError, UserError (storage)."""
        tree = Merkle()
        for row in rows:
            tree.put(row.path, row.content)
        bodies: list[bytes] = []

        def write(body: bytes) -> bytes:
            bodies.append(body)
            return object_id("tree", body)

        root = keep(tree.root, write, lambda leaf: leaf).hex()
        self._store.write_objects(("tree", body) for body in bodies)
        who = "ralph <ralph@localhost> 0 +0000"
        commit = f"tree {root}\nauthor {who}\ncommitter {who}\n\nbase\n".encode()
        head = self._store.write_objects([("commit", commit)])[0]
        rows.sort(key=lambda row: row.path)
        write_whole(self.path / "index", index_bytes(rows, tree.root))
        self.unlock()
        write_whole(self.path / "HEAD", f"{head}\n".encode())


def parsed(out: bytes) -> Listed:
    """Return what the NUL-separated records of `status --porcelain=v2 -z` name. Source: git-status(1)."""
    changed: list[bytes] = []
    untracked: list[bytes] = []
    nested: list[bytes] = []
    for record in out.split(b"\0"):
        if record[:1] == b"?":
            (nested if record[-1:] == b"/" else untracked).append(record[2:])
        elif record[:1] == b"1":
            changed.append(record.split(b" ", 8)[8])
    return Listed(tuple(changed), tuple(untracked), tuple(name[:-1] for name in nested))


def index_bytes(rows: Iterable[Row], root: Node) -> bytes:
    """Return an index file of version 2 with the tree cache filled in. rows: sorted by path; root: their tree.

    Source: gitformat-index(5).
    """
    parts = [b""]
    for row in rows:
        name = row.path
        fixed = _fixed_part(row) + struct.pack(">H", min(len(name), 0xFFF)) + name
        parts.append(fixed + b"\0" * (8 - len(fixed) % 8))
    parts[0] = struct.pack(">4sII", b"DIRC", 2, len(parts) - 1)
    hashed(root)
    cache = b"".join(_tree_cache(root, b""))
    parts += [struct.pack(">4sI", b"TREE", len(cache)), cache]
    body = b"".join(parts)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _fixed_part(row: Row) -> bytes:
    mode, oid, at = int(row.content[:6], 8), row.content[6:], row.status
    if at is None:
        return struct.pack(">10I20s", 0, 0, 0, 0, 0, 0, mode, 0, 0, 0, oid)
    whole, low = 1_000_000_000, 0xFFFFFFFF
    return struct.pack(
        ">10I20s",
        at.st_ctime_ns // whole & low,
        at.st_ctime_ns % whole,
        at.st_mtime_ns // whole & low,
        at.st_mtime_ns % whole,
        at.st_dev & low,
        at.st_ino & low,
        mode,
        at.st_uid & low,
        at.st_gid & low,
        at.st_size & low,
        oid,
    )


def _tree_cache(node: Node, name: bytes) -> Iterable[bytes]:
    below: Mapping[bytes, Node] = {key[:-1]: node for key, node in node.entries.items() if isinstance(node, Node)}
    yield b"%s\0%d %d\n%s" % (name, node.files, len(below), node.oid)
    for key in sorted(below, key=lambda key: (len(key), key)):
        yield from _tree_cache(below[key], key)
