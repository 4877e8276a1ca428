"""Saves what belongs to the user's git directory, and chosen ignored files, before a run. `restore` brings it back.

Everything in a git directory is kept as data, also configuration and hooks: nothing is interpreted, nothing is run.
"""

from __future__ import annotations

import errno
import fnmatch
import json
import os
import stat
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.repo.find import is_git_dir
from ralph.repo.keeping import Keeping, Kept
from ralph.repo.kept import Root, make_private
from ralph.repo.rooted import OutsideError, Rooted
from ralph.repo.store import Store

ALSO_MAX_BYTES = 1 << 20
ALSO_MAX_FILES = 500


class Located(Protocol):
    """The part of a `Place` that is needed here: real paths; None without a repository."""

    @property
    def top(self) -> Path: ...
    @property
    def git_dir(self) -> Path | None: ...
    @property
    def common_dir(self) -> Path | None: ...


def kept_folder(store: Store, run: str) -> Path:
    """Return where a run's kept sets lie: `git/`, `ignored/`, `modes.json`, and `before-restore-…/`; made 0700."""
    folder = store.path / "kept" / run
    make_private(folder)
    return folder


def keep_all(place: Located, store: Store, run: str, *, tree: str, also: Collection[str], max_bytes: int) -> Kept:
    """Keep all that the start tree does not hold: git state, chosen ignored files, odd permission bits.

    tree: id of the start tree in the store; of the repositories nested in it the git directories (`.git/modules` is
    one with the outer's) and pointer files are kept too. Raises: UserError (storage).
    """
    try:
        folder = kept_folder(store, run)
        paths = [os.fsdecode(path) for path in store.entries(tree)]
        nested, pointers = _nested(place.top, paths)
        git = keep_git(place, folder / "git", max_bytes=max_bytes, nested=nested, earlier=_newest(folder))
        ignored = keep_ignored(place.top, folder / "ignored", also=also, saved=paths, pointers=pointers)
        if not (folder / "modes.json").exists():
            keep_modes(place.top, folder / "modes.json", paths=paths)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        fix = "Free some space or move the state with --state-dir." if full else ""
        raise UserError(
            f"cannot keep the git state: {error.strerror}", where=str(store.path), fix=fix, reason=Reason.STORAGE
        ) from error
    return replace(git, left_out=git.left_out + ignored.left_out, files=git.files + ignored.files)


def _nested(top: Path, paths: Iterable[str]) -> tuple[list[Path], list[str]]:
    """Return the tops of nested repositories that are directories, and the paths of `.git` files that point to one."""
    folders = {folder for path in paths for folder in _with_parents(path)[:-1]}
    repositories: list[Path] = []
    pointers: list[str] = []
    for folder in sorted(folders):
        at = top / folder / ".git"
        if at.is_file() and not at.is_symlink():
            pointers.append(f"{folder}/.git")
        elif at.is_dir() and not at.is_symlink() and is_git_dir(at):
            repositories.append(at.parent)
    return repositories, pointers


def _newest(folder: Path) -> Path | None:
    """Return the git state kept last by another run, None where there is none."""
    found = [other / "git" for other in folder.parent.iterdir() if other != folder and (other / "git").is_dir()]
    return max(found, key=lambda kept: kept.stat().st_mtime_ns, default=None)


def keep_git(
    place: Located, into: Path, *, max_bytes: int, nested: Iterable[Path] = (), earlier: Path | None = None
) -> Kept:
    """Keep the whole git directory (and that of nested repositories below the top) in a new folder `into`, 0700.

    max_bytes: how much may be copied where blocks cannot be shared; packs beyond it become hard links.
    earlier: a kept set of an earlier run, whose unchanged objects are linked instead of copied.
    A set that is already there is kept as it is (a resumed run began where the first did). Raises: OSError.
    """
    if into.exists():
        return Kept(notes=("the git directory was kept when the run began",))
    roots = git_roots(place, nested=nested)
    facts = {"dotgit": dotgit(place.top), "top": str(place.top), "git_dir": str(place.git_dir or "")}
    with Keeping(into, roots=roots, facts=facts, max_bytes=max_bytes, earlier=earlier) as keeping:
        for number in range(len(roots)):
            keeping.keep_all(number)
    return keeping.result()


def keep_ignored(
    top: Path, into: Path, *, also: Collection[str], saved: Collection[str], pointers: Collection[str] = ()
) -> Kept:
    """Keep files that no snapshot holds: those that match `also` and are not in `saved` (the start tree's paths).

    A pattern without "/" is tried on names in every directory that holds saved files, and the top; one with "/" from
    the top. Each file up to 1 MiB. pointers: `.git` files of nested repositories, kept alike. Raises: OSError.
    """
    if into.exists():
        return Kept()
    with Keeping(
        into, roots=(Root(str(top)),), facts={"top": str(top)}, max_bytes=ALSO_MAX_BYTES * 64, is_git=False
    ) as keeping:
        for path in [*pointers, *sorted(_matching(top, also=also, saved=saved))[:ALSO_MAX_FILES]]:
            keeping.keep_path(0, path, cap_bytes=ALSO_MAX_BYTES)
    return keeping.result()


def keep_modes(top: Path, into: Path, *, paths: Iterable[str]) -> None:
    """Write down permission bits that git does not record (a key of 0600), for files and the directories above them."""
    odd: dict[str, int] = {}
    for path in {p for given in paths for p in _with_parents(given)}:
        with suppress(OSError):
            status = os.lstat(f"{top}/{path}")
            mode = stat.S_IMODE(status.st_mode) & 0o777
            if mode not in (0o644, 0o755) and not stat.S_ISLNK(status.st_mode):
                odd[path] = mode
    fd = os.open(into, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(fd, "w", encoding="ascii") as file:
        json.dump(odd, file)


def kept_modes(at: Path) -> dict[str, int]:
    """Return what `keep_modes` wrote, {} where there is none or it cannot be read."""
    try:
        found = json.loads(at.read_text(encoding="ascii"))
        return {str(path): int(mode) & 0o777 for path, mode in found.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def git_roots(place: Located, *, nested: Iterable[Path] = ()) -> tuple[Root, ...]:
    """Return the directories that make up a place's git state: shared first, then its own if it lies elsewhere."""
    found = [d for d in (place.common_dir, place.git_dir) if d is not None]
    if len(found) == 2 and (found[1] == found[0] or found[0] in found[1].parents):
        found.pop()
    roots = [_root_of(place.top, directory) for directory in found]
    roots += [Root(str(place.top), (path / ".git").relative_to(place.top).as_posix()) for path in nested]
    return tuple(roots)


def dotgit(top: Path) -> str:
    """Return what `.git` is: "dir", "link TEXT", "file TEXT" (a gitdir pointer) or "none"."""
    at = top / ".git"
    try:
        status = at.lstat()
    except OSError:
        return "none"
    if stat.S_ISLNK(status.st_mode):
        return f"link {at.readlink()}"
    if stat.S_ISREG(status.st_mode):
        with Rooted(top) as root:
            return f"file {os.fsdecode(root.read('.git', cap_bytes=1 << 16))}"
    return "dir" if stat.S_ISDIR(status.st_mode) else "other"


def _root_of(top: Path, directory: Path) -> Root:
    if top in directory.parents:
        return Root(str(top), directory.relative_to(top).as_posix())
    return Root(str(directory))


def _with_parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def _matching(top: Path, *, also: Collection[str], saved: Collection[str]) -> set[str]:
    """Return paths of files that the patterns name and no snapshot holds."""
    plain = [pattern for pattern in also if "/" not in pattern.strip("/")]
    folders = {""} | {path.rpartition("/")[0] for path in saved}
    found: set[str] = set()
    with Rooted(top) as root:
        for folder in folders:
            for name, status in root.entries(folder):
                if not stat.S_ISDIR(status.st_mode) and any(fnmatch.fnmatchcase(name, p) for p in plain):
                    found.add(f"{folder}/{name}" if folder else name)
        for pattern in set(also) - set(plain):
            for path in (p.relative_to(top).as_posix() for p in top.glob(pattern.strip("/"))):
                with suppress(OutsideError):
                    if (at := root.stat(path)) is not None and not stat.S_ISDIR(at.st_mode):
                        found.add(path)
    return found - set(saved)
