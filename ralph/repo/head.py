"""Where HEAD points, read from the files of a git directory: no process on the hot path, nothing runs."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ralph.repo.git import Git

CAP = 4096
PACKED_CAP = 64 << 20
NAMES_COMMIT = re.compile(rb"(?:[0-9a-f]{64}|[0-9a-f]{40})\Z")


@dataclass(frozen=True, slots=True)
class Head:
    """commit: hex id, None while unborn or unreadable. branch: short name, None when detached."""

    commit: str | None = None
    branch: str | None = None


def head_of(git_dir: Path | None, common_dir: Path | None, git: Git) -> Head:
    """Return HEAD of a repository; an empty one where there is no repository. Never raises."""
    if git_dir is None or common_dir is None:
        return Head()
    told = _start_of(git_dir / "HEAD", CAP).strip()
    if NAMES_COMMIT.match(told):
        return Head(told.decode())
    if not told.startswith(b"ref: "):
        return Head()
    ref = told.removeprefix(b"ref: ").strip()
    if ref == b"refs/heads/.invalid":  # what a repository that keeps refs in tables writes there
        return _asked(git_dir, git)
    branch = os.fsdecode(ref.removeprefix(b"refs/heads/"))
    if b".." in ref.split(b"/") or not ref.startswith(b"refs/"):
        return Head(None, branch)
    commit = _start_of(common_dir / os.fsdecode(ref), CAP).strip()
    if not NAMES_COMMIT.match(commit):
        commit = _packed(common_dir / "packed-refs", ref)
    return Head(commit.decode() or None, branch)


def _packed(file: Path, ref: bytes) -> bytes:
    found = re.search(rb"^([0-9a-f]{40,64}) " + re.escape(ref) + rb"$", _start_of(file, PACKED_CAP), re.MULTILINE)
    return found[1] if found else b""


def _asked(git_dir: Path, git: Git) -> Head:
    commit = git.run(["rev-parse", "--verify", "-q", "HEAD"], git_dir=git_dir)
    branch = git.run(["symbolic-ref", "-q", "--short", "HEAD"], git_dir=git_dir)
    return Head(commit.out.decode().strip() or None, os.fsdecode(branch.out).strip() or None)


def _start_of(path: Path, cap: int) -> bytes:
    """Return the start of a file, b"" for what cannot be read; a pipe under its name does not hang us."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(descriptor, cap)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
