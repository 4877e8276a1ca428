"""Repositories inside a repository: each is looked at by a private directory of its own, never entered by git."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ralph.repo.find import git_dir_of
from ralph.repo.merkle import Merkle, Node
from ralph.repo.private import Listed

if TYPE_CHECKING:
    from ralph.repo.look import Look

DEEPEST = 8


class Nested:
    """The nested repositories of one look. root: of the look, "/"-ended. opened: makes a look into a folder."""

    def __init__(self, root: bytes, opened: Callable[[bytes], Look | None]) -> None:
        self.troubles: list[str] = []
        self._root = root
        self._opened = opened
        self._looks: dict[bytes, Look] = {}
        self._mounted: dict[bytes, tuple[Node, bytes]] = {}
        self._plain: set[bytes] = set()

    def looks(self) -> Iterator[Look]:
        """Return the looks of the newest `take`."""
        return iter(self._looks.values())

    def release(self, folders: Collection[bytes], tree: Merkle) -> None:
        """Take the folders that are repositories no longer out of the outer tree, which may now have files there."""
        for gone in self._looks.keys() - set(folders):
            del self._looks[gone]
            if self._mounted.pop(gone, None):
                tree.unmount(gone)

    def take(self, folders: Collection[bytes], now_ns: int) -> None:
        """Look into these folders."""
        self.troubles = []
        for folder in folders:
            look = self._look(folder)
            if look is None:
                self.troubles.append(f"{os.fsdecode(folder)}: a nested repository that cannot be read")
            elif look.site.depth > DEEPEST:
                self.troubles.append(f"{os.fsdecode(folder)}: nested more than {DEEPEST} deep")
            else:
                look.take(now_ns)
                self.troubles += look.troubles

    def mount(self, tree: Merkle) -> None:
        """Let the trees of the nested looks be directories of the outer tree."""
        for folder, look in self._looks.items():
            now = (look.tree.root, look.tree.oid())
            if self._mounted.get(folder) != now:
                tree.mount(folder, look.tree.root)
                self._mounted[folder] = now

    def contradicts(self, listed: Listed) -> bool:
        """Return whether git's untracked cache answered from before a `.git` came or went.

        It looks into a directory again when that changes, but decides in the directory above what is a repository.
        """
        gone = [folder for folder in listed.nested if not os.path.lexists(self._root + folder + b"/.git")]
        folders: set[bytes] = set()
        for path in listed.untracked:
            folder = path.rpartition(b"/")[0]
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder.rpartition(b"/")[0]
        come = {folder for folder in folders if os.path.lexists(self._root + folder + b"/.git")}
        come = {folder for folder in come - self._plain if _is_repository(self._root + folder)}
        # git asked without its cache says the same where the outer repository tracks files inside.
        self._plain = {folder for folder in self._plain if folder in folders} | come
        return bool(gone or come)

    def _look(self, folder: bytes) -> Look | None:
        look = self._looks.get(folder)
        if look is None or look.site.git_dir != _git_dir(self._root + folder):
            look = self._opened(folder)
        if look is None:
            self._looks.pop(folder, None)
        else:
            self._looks[folder] = look
        return look


def _git_dir(folder: bytes) -> Path | None:
    try:
        return git_dir_of(Path(os.fsdecode(folder)))
    except OSError:
        return None


def _is_repository(folder: bytes) -> bool:
    return _git_dir(folder) is not None
