"""A small stand-in for the fingerprint: saves a work tree into a store the slow, plain way."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

from ralph.repo.store import Store

Tree = dict[bytes, "tuple[bytes, str] | Tree"]


def git(top: Path, *args: str, **env: str) -> str:
    """Run the user's own git in a repository."""
    done = subprocess.run(["git", *args], cwd=top, capture_output=True, check=True, env={**os.environ, **env})
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def listed(top: Path) -> list[bytes]:
    """Return paths of tracked and untracked-not-ignored files; all files where there is no repository."""
    asked = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    done = subprocess.run(asked, cwd=top, capture_output=True, check=False)
    if done.returncode == 0:
        paths = {path for path in done.stdout.split(b"\0") if path}
        return sorted(path for path in paths if _is_content(top / os.fsdecode(path)))
    return sorted(os.fsencode(path.relative_to(top)) for path in top.rglob("*") if _is_content(path))


def _is_content(at: Path) -> bool:
    return at.is_symlink() or at.is_file()


def save(top: Path, store: Store, run: str, label: str) -> str:
    """Save the tree under a label and return its id."""
    root: Tree = {}
    for path in listed(top):
        *above, name = path.split(b"/")
        folder = root
        for part in above:
            below = folder.setdefault(part, {})
            assert isinstance(below, dict)
            folder = below
        at = top / os.fsdecode(path)
        status = at.lstat()
        if stat.S_ISLNK(status.st_mode):
            folder[name] = (b"120000", store.write_blob(os.fsencode(at.readlink())))
        else:
            mode = b"100755" if status.st_mode & 0o100 else b"100644"
            folder[name] = (mode, store.write_blob(at.read_bytes()))
    tree = _write(root, store)
    store.label(run, label, tree)
    return tree


def _write(folder: Tree, store: Store) -> str:
    found = {name: (b"40000", _write(e, store)) if isinstance(e, dict) else e for name, e in folder.items()}
    return store.write_tree(found)


def picture(top: Path) -> dict[str, tuple[str, int, bytes]]:
    """Return every file and link of a directory: kind, permission bits and bytes; directories by their kind alone."""
    found: dict[str, tuple[str, int, bytes]] = {}
    for folder, directories, files in os.walk(top):
        for name in (*directories, *files):
            at = Path(folder, name)
            status = at.lstat()
            here = at.relative_to(top).as_posix()
            if stat.S_ISLNK(status.st_mode):
                found[here] = ("link", 0, os.fsencode(at.readlink()))
            elif stat.S_ISREG(status.st_mode):
                found[here] = ("file", status.st_mode & 0o777, at.read_bytes())
    return found


def work(top: Path) -> dict[str, tuple[str, int, bytes]]:
    """Return the picture of a work tree without its git directory."""
    return {path: seen for path, seen in picture(top).items() if not path.startswith(".git/")}
