"""Makes a fresh linked work tree for `--worktree`: branch `ralph/RUN`, the user's own checkout untouched.

The files are the committed bytes, written by our own hand: no smudge filter, no line-end conversion, no hook runs. For
most repositories that is what a checkout gives. Where it is not (LFS, git-crypt, `text`/`eol` that convert) git's clean
side takes the raw bytes as what they are, so such a file shows as unmodified; `Linked.notes` names the filters.
Submodules stay empty directories, as after `git worktree add`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.repo.git import Git, GitResult
from ralph.repo.keep import Located
from ralph.repo.kept import make_private
from ralph.repo.rooted import Rooted, parts_of

FILTER = re.compile(rb"\sfilter=[\w.-]+")
BATCH_BYTES = 32 << 20
"""How much content is asked of git at a time."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A linked work tree that was made. top: where to look. branch: short name. commit: where it starts. notes: raw."""

    top: Path
    branch: str
    commit: str
    files: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    mode: str
    oid: str
    size: int


def create(place: Located, git: Git, run: str, *, into: Path) -> Linked:
    """Make the work tree `into/NAME` (NAME: that of the top) on a new branch `ralph/RUN` from HEAD, and fill it.

    into: a folder of ours outside every work tree, made 0700 if missing.
    Raises: UserError (refused) without a repository or a commit, or where git or the disk will not have it.
    """
    if place.git_dir is None or place.common_dir is None:
        raise _refused("--worktree needs a git repository", "Run without --worktree, or make one: git init")
    told = git.run(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], git_dir=place.git_dir)
    if not told.ok:
        raise _refused("--worktree needs a commit to start from", "Make one first: git add -A && git commit -m start")
    commit, branch, top = told.out.decode("ascii").strip(), f"ralph/{run}", into / place.top.name
    try:
        make_private(into)
    except OSError as error:
        raise _refused(f"cannot make {into}: {error.strerror}") from error
    _add(git, place, top, branch=branch, commit=commit)
    try:
        own = _admin_directory(place.common_dir, top)
        files = list(_files(git, own, commit))
        _fill(git, own, top, files)
        _must(git.run(["read-tree", commit], git_dir=own, work_tree=top, index=own / "index"))
    except (OSError, ValueError, UserError) as error:
        _undo(git, place.git_dir, top, branch=branch, commit=commit)
        raise error if isinstance(error, UserError) else _refused(f"cannot fill {top}: {error}") from error
    return Linked(top, branch, commit, len(files), tuple(_notes(top, files)))


def _add(git: Git, place: Located, top: Path, *, branch: str, commit: str) -> None:
    args = ["worktree", "add", "--no-checkout", "--no-track", "-b", branch, str(top), commit]
    told = git.run(args, git_dir=place.git_dir, work_tree=None)
    if not told.ok:
        # The first line only says what git is about to do.
        lines = [line for line in told.err.decode("utf-8", "replace").splitlines() if line.startswith("fatal: ")]
        raise _refused(
            f"git worktree add: {lines[0] if lines else told.complaint}",
            "Look at the work trees and branches there are: git worktree list; git branch",
        )


def _undo(git: Git, git_dir: Path, top: Path, *, branch: str, commit: str) -> None:
    """Take back a work tree that could not be filled, and its branch while nothing was added to it."""
    shutil.rmtree(top, ignore_errors=True)
    git.run(["worktree", "prune"], git_dir=git_dir)
    git.run(["update-ref", "-d", f"refs/heads/{branch}", commit], git_dir=git_dir)


def _admin_directory(common: Path, top: Path) -> Path:
    """Return the git directory that belongs to a linked work tree, checked to lie where such lie."""
    with Rooted(top) as root:
        text = os.fsdecode(root.read(".git", cap_bytes=1 << 16)).strip()
    own = Path(text.removeprefix("gitdir: "))
    if own.parent != common / "worktrees" or not (own / "HEAD").is_file():
        raise _refused(f"{top / '.git'} leads to {own}")
    return own


def _files(git: Git, own: Path, commit: str) -> Iterator[_File]:
    """Yield every file of a commit; what may not be the path of a file in a work tree is a refusal."""
    listed = _must(git.run(["ls-tree", "-r", "-z", "-l", commit], git_dir=own)).out
    for row in listed.decode("utf-8", "surrogateescape").split("\0"):
        head, _, path = row.partition("\t")
        if not path:
            continue
        mode, _, oid, size = head.split()
        if any(part.lower() == ".git" for part in parts_of(path)):
            raise _refused(f"the commit holds {path!r}")
        yield _File(path, mode, oid, int(size) if size.isdigit() else 0)


def _fill(git: Git, own: Path, top: Path, files: list[_File]) -> None:
    umask = os.umask(0o077)
    os.umask(umask)
    programs, others = 0o777 & ~umask, 0o666 & ~umask
    with Rooted(top) as root:
        for file in files:
            if file.mode == "160000":
                root.make_directory(file.path)
        for batch in _batches([file for file in files if file.mode != "160000"]):
            for file, data in zip(batch, _contents(git, own, batch), strict=True):
                if file.mode == "120000":
                    root.link(file.path, os.fsdecode(data))
                else:
                    root.write(file.path, (data,), mode=programs if file.mode == "100755" else others)


def _batches(files: list[_File]) -> Iterator[list[_File]]:
    batch: list[_File] = []
    size = 0
    for file in files:
        if batch and size + file.size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.size
    if batch:
        yield batch


def _contents(git: Git, own: Path, batch: list[_File]) -> Iterator[bytes]:
    """Yield the raw bytes of each file. Source: git-cat-file(1), BATCH OUTPUT."""
    asked = "".join(f"{file.oid}\n" for file in batch).encode("ascii")
    told = _must(git.run(["cat-file", "--batch"], git_dir=own, stdin=asked, timeout_s=600.0)).out
    at = 0
    for file in batch:
        end = told.index(b"\n", at)
        oid, kind, size = told[at:end].split()[:3] if told[at:end].count(b" ") == 2 else (b"", b"missing", b"0")
        if oid.decode() != file.oid or kind != b"blob":
            raise _refused(f"{file.path}: its content is not in the repository ({file.oid[:12]})", "git fsck")
        yield told[end + 1 : end + 1 + int(size)]
        at = end + 2 + int(size)


def _notes(top: Path, files: list[_File]) -> Iterator[str]:
    found: set[str] = set()
    with Rooted(top) as root:
        for file in files:
            if file.path.rpartition("/")[2] == ".gitattributes" and file.mode != "120000" and file.size < 1 << 20:
                words = FILTER.findall(root.read(file.path, cap_bytes=1 << 20))
                found.update(word.strip().decode() for word in words)
    if found:
        yield f"files with {', '.join(sorted(found))} hold their committed bytes here: filters are not run"
    if any(file.mode == "160000" for file in files):
        yield "submodules are empty here"


def _must(told: GitResult) -> GitResult:
    if not told.ok:
        raise _refused(f"git: {told.complaint}")
    return told


def _refused(what: str, fix: str = "") -> UserError:
    return UserError(what, fix=fix, reason=Reason.REFUSED)
