"""Brings a kept git directory back as plain files: objects are added, refs and the rest become what they were.

Nothing is executed and no configuration is obeyed. Objects and refs made since stay; all is checked as it is read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.repo.kept import KeptDamageError, Manifest, Root, Row, verify
from ralph.repo.refs import RefReader, parse_packed
from ralph.repo.rooted import InTheWayError, Rooted

# Here more may have come since, and nothing of it is taken away.
GROWING = re.compile(r"(?:objects|refs|logs|worktrees|modules|lfs|annex)(?:/|$)")
PACKED_CAP = 256 << 20
WHOLE_ORDER = ("objects", "", "refs", "HEAD", "index")


@dataclass(slots=True)
class Returned:
    """written: files put back, `GIT_DIR/path`. unchanged: as they were. damaged: kept, but not intact. notes: raw."""

    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: int = 0
    damaged: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def bring_back(kept: Manifest, top: Path) -> Returned:
    """Write a kept git state over what is there. top: of the work tree, exists.

    In a linked worktree whose shared directory still stands, only this worktree's own part comes back, with missing
    objects, missing refs and the branch it was on: the other branches belong to other checkouts as well.
    Raises: OSError, UserError (repo-damaged) where the way to the directory leads through a link now.
    """
    told = Returned()
    _restore_dotgit(kept, top)
    for number, root in enumerate(kept.roots):
        _make_base(Path(root.base))
        with Rooted(Path(root.base)) as base:
            rows = [row for row in kept.rows if row.root == number]
            _Return(base, root, kept, rows, told).run()
    return told


class _Return:
    """One root on its way back."""

    def __init__(self, base: Rooted, root: Root, kept: Manifest, rows: list[Row], told: Returned) -> None:
        self._base = base
        self._root = root
        self._kept = kept
        self._rows = {row.path: row for row in rows}
        self._told = told
        self._here = Path(root.base, root.prefix)
        self._own = self._own_part()

    def run(self) -> None:
        """Write objects first and HEAD and index last, so that a crash leaves a repository that git can read."""
        now = RefReader(self._here, self._here).read()
        rows = [row for row in self._rows.values() if self._is_wanted(row, now.all)]
        self._remove_others(below=self._own or "")
        for row in sorted(rows, key=lambda row: (row.kind != "dir", _rank(row.path), row.path)):
            self._put(row)
        if self._own is None:
            self._settle_refs(now.loose or {}, now.all)
        for row in sorted((r for r in rows if r.kind == "dir"), key=lambda r: r.path, reverse=True):
            status = self._base.stat(self._root.at(row.path))
            if status is not None and stat.S_ISDIR(status.st_mode) and status.st_mode & 0o777 != row.mode:
                self._base.set_mode(self._root.at(row.path), row.mode)

    def _own_part(self) -> str | None:
        """Return the folder of a linked worktree's own files if the shared rest still stands, else None."""
        own = Path(self._kept.facts.get("git_dir", ""))
        if self._here not in own.parents or not (self._here / "objects").is_dir() or not (self._here / "HEAD").exists():
            return None
        return own.relative_to(self._here).as_posix()

    def _is_wanted(self, row: Row, now: dict[str, str]) -> bool:
        if self._own is None or row.path.startswith(f"{self._own}/") or row.path.startswith("objects/"):
            return True
        is_ref = row.path.startswith("refs/") and row.kind == "file"
        return is_ref and (row.path not in now or row.path == self._branch())

    def _branch(self) -> str:
        head = self._rows.get(f"{self._own}/HEAD")
        text = self._kept.stored(head).read_text("utf-8", "surrogateescape") if head is not None else ""
        return text.removeprefix("ref: ").strip()

    def _put(self, row: Row) -> None:
        at = self._root.at(row.path)
        try:
            if row.kind == "dir":
                self._clear(at, keep_directory=True)
                self._base.make_directory(at, mode=0o700)
            elif row.kind == "link":
                self._clear(at)
                self._base.link(at, row.text)
                self._told.written.append(str(Path(self._root.base, at)))
            elif self._is_there(at, row):
                self._told.unchanged += 1
            else:
                self._clear(at)
                self._base.write(at, self._kept.chunks(row), mode=row.mode, mtime_ns=row.mtime_ns)
                self._told.written.append(str(Path(self._root.base, at)))
        except KeptDamageError as error:
            self._told.damaged.append(f"{error} ({self._kept.stored(row)})")

    def _is_there(self, at: str, row: Row) -> bool:
        status = self._base.stat(at)
        if status is None or not stat.S_ISREG(status.st_mode) or status.st_size != row.size:
            return False
        try:
            verify(Path(self._root.base, at), row)
        except KeptDamageError:
            return False
        return status.st_mode & 0o777 == row.mode

    def _clear(self, at: str, *, keep_directory: bool = False) -> None:
        """Take away what has the wrong kind, at the path or above it; all of it was kept before."""
        parts = at.split("/")
        for n in range(1, len(parts)):
            self._drop("/".join(parts[:n]), unless=stat.S_ISDIR)
        if keep_directory:
            self._drop(at, unless=stat.S_ISDIR)
        else:
            self._drop(at, unless=lambda mode: not stat.S_ISDIR(mode))

    def _drop(self, at: str, *, unless: Callable[[int], bool]) -> None:
        status = self._base.stat(at)
        if status is None or unless(status.st_mode):
            return
        if stat.S_ISDIR(status.st_mode):
            self._drop_directory(at)
        else:
            self._base.unlink(at)
        self._told.notes.append(f"{Path(self._root.base, at)}: stood in the way and was removed")

    def _drop_directory(self, at: str) -> None:
        found = list(self._base.walk(at))
        for path, status in reversed(found):
            if not stat.S_ISDIR(status.st_mode):
                self._base.remove(path)
        for path, status in reversed(found):
            if stat.S_ISDIR(status.st_mode):
                self._base.prune(path)
        self._base.prune(at)

    def _remove_others(self, *, below: str = "") -> None:
        """Remove files that were not there then (MERGE_HEAD, planted hooks), except where a repository grows."""
        start = self._root.at(below) if below else self._root.prefix
        skip = len(self._root.prefix) + 1 if self._root.prefix else 0
        for at, status in reversed(list(self._base.walk(start))):
            path = at[skip:]
            inner = path[len(below) + 1 :] if below else path
            if path in self._rows or GROWING.match(inner):
                continue
            if stat.S_ISDIR(status.st_mode):
                self._base.prune(at)  # an empty rebase-merge/ alone is a rebase to git
            elif path.endswith(".lock"):
                self._told.notes.append(f"{Path(self._root.base, at)}: a lock was left alone")
            else:
                self._base.unlink(at)
                self._told.removed.append(str(Path(self._root.base, at)))

    def _settle_refs(self, loose_now: dict[str, str], all_now: dict[str, str]) -> None:
        """Let packed refs be seen again, and give refs made since a file of their own if packing had swallowed them."""
        then = {row.path for row in self._rows.values() if row.path.startswith("refs/") and row.kind == "file"}
        packed = self._packed_then()
        for name in loose_now.keys() & packed.keys() - then:
            self._base.unlink(self._root.at(name))
        since = sorted(all_now.keys() - packed.keys() - then)
        for name in since:
            if name not in loose_now:
                self._add_ref(name, all_now[name])
        if since:
            self._told.notes.append(f"refs made since the start stay: {', '.join(since[:20])}")

    def _packed_then(self) -> dict[str, str]:
        row = self._rows.get("packed-refs")
        if row is None:
            return {}
        try:
            return parse_packed(b"".join(self._kept.chunks(row)))
        except KeptDamageError:
            return {}

    def _add_ref(self, name: str, value: str) -> None:
        at = self._root.at(name)
        if not name.startswith("refs/") or self._base.stat(at) is not None:
            return
        try:
            self._base.write(at, (f"{value}\n".encode("utf-8", "surrogateescape"),), mode=0o644)
        except (InTheWayError, ValueError):
            self._told.notes.append(
                f"{name} ({value[:12]}) was made since and has no room beside the refs of the start"
            )


def _rank(path: str) -> int:
    head = path.partition("/")[0]
    return WHOLE_ORDER.index(head) if head in WHOLE_ORDER else WHOLE_ORDER.index("")


def _make_base(base: Path) -> None:
    base.mkdir(parents=True, exist_ok=True)
    if os.path.realpath(base) != str(base):
        raise UserError(
            f"{base} is reached through a symbolic link now",
            fix="Remove the link that was put in its way, then restore again.",
            reason=Reason.REPO_DAMAGED,
        )


def _restore_dotgit(kept: Manifest, top: Path) -> None:
    """Make `.git` of the top what it was: a directory, a pointer file or a link."""
    how, _, text = kept.facts.get("dotgit", "none").partition(" ")
    with Rooted(top) as root:
        status = root.stat(".git")
        is_directory = status is not None and stat.S_ISDIR(status.st_mode)
        if how == "dir" and status is not None and not is_directory:
            root.remove(".git")
        if how not in ("file", "link"):
            return
        if is_directory:
            _set_apart(root, kept)
        if how == "file":
            root.write(".git", (os.fsencode(text),), mode=0o644)
        else:
            root.link(".git", text)


def _set_apart(root: Rooted, kept: Manifest) -> None:
    raise UserError(
        f"{root.root / '.git'} is a directory now and was {kept.facts['dotgit'].partition(' ')[0]} at the start",
        fix=f"Move it away (mv {root.root / '.git'} {root.root / '.git.moved'}), then restore again.",
        reason=Reason.REPO_DAMAGED,
    )
