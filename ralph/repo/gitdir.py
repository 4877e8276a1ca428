"""Git directories that ralph makes for itself: a configuration and attributes under which git converts nothing."""

from __future__ import annotations

import os
from pathlib import Path

from ralph.repo.objects import private

CONFIG = b"""[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tsymlinks = true
\tignorecase = false
\tlogallrefupdates = false
\tautocrlf = false
\ttrustctime = true
\tcheckstat = default
\tuntrackedcache = true
\tfsmonitor = false
[status]
\tshowuntrackedfiles = all
\trelativepaths = false
\trenames = false
[gc]
\tauto = 0
"""

ATTRIBUTES = b"* -text !eol -ident -filter -working-tree-encoding -crlf !diff !merge !export-ignore\n"
"""Takes every attribute away that makes git convert content; `info/attributes` outranks all files in the tree."""


def make_git_directory(path: Path, *, objects: bool) -> None:
    """Lay out a git directory of ours at path (0700), or renew its configuration. Raises: OSError.

    objects: False where the objects of another directory are used.
    """
    for folder in ("", "info", "refs/ralph", "objects/pack" if objects else "refs/heads", "objects/info"):
        (path / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
    for name, data in (("config", CONFIG), ("info/attributes", ATTRIBUTES)):
        if not (path / name).exists() or (path / name).read_bytes() != data:
            write_whole(path / name, data)
    if not (path / "HEAD").exists():
        write_whole(path / "HEAD", b"ref: refs/heads/none\n")


def write_whole(path: Path, data: bytes, *, synced: bool = False) -> None:
    """Replace a file's content in one step; synced: durable before it returns. Raises: OSError."""
    part = path.with_name(f".{path.name}.part")
    with open(part, "wb", opener=private) as file:
        file.write(data)
        if synced:
            file.flush()
            os.fsync(file.fileno())
    part.replace(path)
    if synced:
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names in a directory durable. Raises: OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
