"""Reads HEAD and refs of a user's repository as the plain files they are: no process, no configuration obeyed."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from ralph.repo.git import Git
from ralph.repo.rooted import Rooted

OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
SYMBOLIC = "ref: "
MOST_REFS = 200_000
PACKED_CAP = 256 << 20


@dataclass(frozen=True, slots=True)
class Refs:
    """HEAD and refs at one moment. head: commit id or "ref: NAME", "" where unreadable. loose, packed: name → the same.

    locks: names of lock files seen among them, relative to the common directory.
    """

    head: str = ""
    loose: dict[str, str] | None = None
    packed: dict[str, str] | None = None
    locks: tuple[str, ...] = ()

    @property
    def all(self) -> dict[str, str]:
        """Return every ref; a loose one hides a packed one."""
        return {**(self.packed or {}), **(self.loose or {})}

    @property
    def branch(self) -> str | None:
        """Return the full name of the branch HEAD is on, None where it is detached or unreadable."""
        return self.head.removeprefix(SYMBOLIC) if self.head.startswith(SYMBOLIC) else None

    @property
    def commit(self) -> str | None:
        """Return the commit HEAD stands on, None where the branch is unborn."""
        found = self.all.get(self.branch) if self.branch is not None else self.head
        return found if found and OID.match(found) else None


class RefReader:
    """Reads the refs of one repository again and again; a loose ref whose stat did not move is not opened again."""

    def __init__(self, git_dir: Path, common_dir: Path) -> None:
        self._git_dir = git_dir
        self._common_dir = common_dir
        self._seen: dict[str, tuple[tuple[int, int, int], str]] = {}
        self._packed_seen: tuple[tuple[int, int, int], dict[str, str]] | None = None

    def read(self, git: Git | None = None) -> Refs:
        """Return what is there now; unreadable parts are absent. git: asked only where refs are no plain files."""
        if git is not None and (self._common_dir / "reftable").is_dir():
            return _asked(git, self._git_dir)
        try:
            with Rooted(self._git_dir) as own, Rooted(self._common_dir) as common:
                loose, locks = self._loose(common)
                return Refs(_text(own, "HEAD"), loose, self._packed(common), locks)
        except OSError:
            return Refs()

    def _loose(self, common: Rooted) -> tuple[dict[str, str], tuple[str, ...]]:
        found: dict[str, tuple[tuple[int, int, int], str]] = {}
        locks: list[str] = []
        for count, (name, status) in enumerate(common.walk("refs")):
            if count > MOST_REFS:
                break
            if not stat.S_ISREG(status.st_mode):
                continue
            if name.endswith(".lock"):
                locks.append(name)
                continue
            mark = _mark(status)
            old = self._seen.get(name)
            found[name] = old if old is not None and old[0] == mark else (mark, _text(common, name))
        self._seen = found
        return {name: value for name, (_, value) in found.items()}, tuple(locks)

    def _packed(self, common: Rooted) -> dict[str, str]:
        status = common.stat("packed-refs")
        if status is None:
            return {}
        mark = _mark(status)
        if self._packed_seen is None or self._packed_seen[0] != mark:
            self._packed_seen = (mark, parse_packed(_bytes(common, "packed-refs", cap_bytes=PACKED_CAP)))
        return self._packed_seen[1]


def parse_packed(data: bytes) -> dict[str, str]:
    """Return name → id of a packed-refs file; lines that are none are skipped. Source: git-pack-refs(1)."""
    found: dict[str, str] = {}
    for line in data.decode("utf-8", "surrogateescape").split("\n"):
        oid, _, name = line.partition(" ")
        if name and OID.match(oid):
            found[name] = oid
    return found


def _mark(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


def _text(root: Rooted, path: str) -> str:
    return _bytes(root, path, cap_bytes=4096).decode("utf-8", "surrogateescape").strip()


def _bytes(root: Rooted, path: str, *, cap_bytes: int) -> bytes:
    try:
        return root.read(path, cap_bytes=cap_bytes)
    except OSError:
        return b""


def _asked(git: Git, git_dir: Path) -> Refs:
    listed = git.run(["for-each-ref", "--format=%(objectname) %(refname)"], git_dir=git_dir)
    head = git.run(["symbolic-ref", "-q", "HEAD"], git_dir=git_dir)
    if head.ok:
        return Refs(SYMBOLIC + head.out.decode("utf-8", "surrogateescape").strip(), {}, parse_packed(listed.out))
    commit = git.run(["rev-parse", "-q", "--verify", "HEAD"], git_dir=git_dir)
    return Refs(commit.out.decode("ascii", "replace").strip(), {}, parse_packed(listed.out))
