"""Find the work tree a run is to work on, by looking at directories only: git is not asked, no configuration read."""

from __future__ import annotations

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.repo.git import Git
from ralph.repo.ignoring import BUILT_IN

MOST_FILES = 200_000
"""A plain folder with more files is hardly a project; a repository may have any number."""

LINK_CAP = 4096

Identity = tuple[int, int]
"""(device, inode)."""


@dataclass(frozen=True, slots=True)
class Place:
    """A work tree and its git directories as they were found. All paths are real paths.

    git_dir: None where there is no repository. common_dir: where refs and objects are, other than git_dir in a
    linked work tree only. top_is, git_is: which directories these were, to notice that they were swapped.
    """

    top: Path
    git_dir: Path | None
    common_dir: Path | None
    linked: bool
    top_is: Identity
    git_is: Identity | None

    @property
    def index(self) -> Path | None:
        """Return the user's index file, which need not exist."""
        return self.git_dir / "index" if self.git_dir else None


def locate(start: Path, git: Git, *, no_git: bool) -> Place:
    """Return the work tree that start lies in; a folder that is in no repository is its own.

    no_git: take the folder as it is, whatever it is. git: not started, kept for callers that pass it on.
    Raises: UserError (refused).
    """
    try:
        start = Path(os.path.realpath(start, strict=True))
        top, git_dir = (start, None) if no_git else _repository(start)
        place = _place(top, git_dir)
    except OSError as error:
        raise UserError(f"cannot look at {start}: {error.strerror}", reason=Reason.REFUSED) from error
    if not no_git:
        _check_sane(place)
    return place


def is_git_dir(path: Path) -> bool:
    """Return whether a directory has the shape of a git directory: HEAD, and objects and refs or a `commondir`."""
    if not os.path.lexists(path / "HEAD"):
        return False
    return (path / "commondir").is_file() or ((path / "objects").is_dir() and (path / "refs").is_dir())


def git_dir_of(top: Path) -> Path | None:
    """Return the git directory that `top/.git` is or points to, None if it is or leads to none. Raises: OSError."""
    dot = top / ".git"
    if dot.is_dir():
        return Path(os.path.realpath(dot)) if is_git_dir(dot) else None
    told = _first_bytes(dot)
    if not told.startswith(b"gitdir: "):
        return None
    target = top / os.fsdecode(told[len(b"gitdir: ") :].rstrip(b"\r\n"))
    return Path(os.path.realpath(target)) if is_git_dir(target) else None


def common_dir_of(git_dir: Path) -> Path:
    """Return where a git directory keeps refs and objects. Raises: OSError."""
    told = _first_bytes(git_dir / "commondir").strip()
    return Path(os.path.realpath(git_dir / os.fsdecode(told))) if told else git_dir


def _repository(start: Path) -> tuple[Path, Path | None]:
    for top in (start, *start.parents):
        dot = top / ".git"
        if os.path.lexists(dot):
            found = git_dir_of(top)
            if found is not None:
                return top, found
            if not dot.is_dir():
                raise UserError(
                    f"{dot} leads to no git directory",
                    fix="Repair or remove it, or give --no-git to take the folder as it is.",
                    reason=Reason.REFUSED,
                )
        if is_git_dir(top):
            raise UserError(
                f"{top} is a git directory without a work tree",
                fix="Start in a clone of it: git clone " + str(top),
                reason=Reason.REFUSED,
            )
    return start, None


def _place(top: Path, git_dir: Path | None) -> Place:
    common = common_dir_of(git_dir) if git_dir else None
    return Place(
        top=top,
        git_dir=git_dir,
        common_dir=common,
        linked=git_dir is not None and common != git_dir,
        top_is=_identity(top),
        git_is=_identity(git_dir) if git_dir else None,
    )


def _check_sane(place: Place) -> None:
    fix = "Start in a project folder, or give --no-git if you mean it."
    if place.top == Path("/"):
        raise UserError("refusing to work on /", fix=fix, reason=Reason.REFUSED)
    if place.top in _homes():
        raise UserError(f"refusing to work on a home directory: {place.top}", fix=fix, reason=Reason.REFUSED)
    if place.git_dir is None and _has_more_files(place.top, MOST_FILES):
        raise UserError(
            f"{place.top} is no repository and holds over {MOST_FILES} files", fix=fix, reason=Reason.REFUSED
        )


def _homes() -> set[Path]:
    named = [os.environ.get("HOME", ""), *(entry.pw_dir for entry in pwd.getpwall() if entry.pw_uid == os.getuid())]
    return {Path(os.path.realpath(name)) for name in named if name.startswith("/")}


def _has_more_files(top: Path, most: int) -> bool:
    left_out = {pattern.rstrip("/") for pattern in BUILT_IN} | {".git"}
    ahead, files = [str(top)], 0
    while ahead and files <= most:
        try:
            with os.scandir(ahead.pop()) as listing:
                for entry in listing:
                    if not entry.is_dir(follow_symlinks=False):
                        files += 1
                    elif entry.name not in left_out:
                        ahead.append(entry.path)
        except OSError:
            continue
    return files > most


def _identity(path: Path) -> Identity:
    status = path.stat()
    return status.st_dev, status.st_ino


def _first_bytes(path: Path) -> bytes:
    """Return the start of a regular file, b"" for what is none; a pipe under its name does not hang us."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    try:
        return os.read(descriptor, LINK_CAP) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    finally:
        os.close(descriptor)
