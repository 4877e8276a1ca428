"""The git tree of a work tree, kept in memory: a change rehashes its directories and no others.

The id equals what `git write-tree` gives for the same raw bytes. Nothing is read or written here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

Leaf = bytes
"""One entry as a tree object holds it: octal mode, blank, name, NUL, 20 bytes of id."""


def mode_of(leaf: Leaf) -> bytes:
    """Return the octal mode; those of files, links and gitlinks all have six digits."""
    return leaf[:6]


def oid_of(leaf: Leaf) -> bytes:
    """Return the 20 bytes of the id."""
    return leaf[-20:]


class Node:
    """One directory. entries: file name -> leaf, directory name + "/" -> Node, so that plain sorting is git's order."""

    __slots__ = ("entries", "files", "kept_as", "kept_oid", "oid")

    def __init__(self) -> None:
        self.entries: dict[bytes, Leaf | Node] = {}
        self.oid: bytes | None = None
        """None: changed since it was hashed."""
        self.files = 0
        self.kept_oid: bytes | None = None
        self.kept_as = b""
        """What a store knows the directory by that hashed to `kept_oid` (see `keep`)."""


class Merkle:
    """A tree of directories. Paths are bytes, "/"-separated, without "/" at either end."""

    def __init__(self) -> None:
        self.root = Node()

    def put(self, path: bytes, mode_and_oid: bytes) -> None:
        """Set a file. mode_and_oid: six digits of the mode, then 20 bytes of the id."""
        *folders, name = path.split(b"/")
        node = self.root
        node.oid = None
        for folder in folders:
            below = node.entries.get(folder + b"/")
            if not isinstance(below, Node):
                below = node.entries[folder + b"/"] = Node()
            below.oid = None
            node = below
        node.entries[name] = b"%s %s\0%s" % (mode_and_oid[:6], name, mode_and_oid[6:])

    def get(self, path: bytes) -> bytes | None:
        """Return mode and id of a file as `put` takes them, None if there is none."""
        *folders, name = path.split(b"/")
        node = self.root
        for folder in folders:
            below = node.entries.get(folder + b"/")
            if not isinstance(below, Node):
                return None
            node = below
        leaf = node.entries.get(name)
        return mode_of(leaf) + oid_of(leaf) if isinstance(leaf, bytes) else None

    def remove(self, path: bytes) -> None:
        """Take a file out, and the directories that this leaves empty; missing is fine."""
        way = self._way(path)
        if way and way[-1][0].entries.pop(way[-1][1], None) is not None:
            _touch(way)
            _wither(way[:-1])

    def mount(self, folder: bytes, root: Node) -> None:
        """Let the root of another tree be the directory at folder; call it again whenever that tree changed."""
        way = self._way(folder + b"/x", make=True)
        node, name = way[-2]
        node.entries[name] = root
        _touch(way[:-1])

    def unmount(self, folder: bytes) -> None:
        """Take the directory at folder out, whatever it holds."""
        way = self._way(folder + b"/x")
        if way:
            node, name = way[-2]
            node.entries.pop(name, None)
            _touch(way[:-1])
            _wither(way[:-2])

    def oid(self) -> bytes:
        """Return the id of the whole tree."""
        return hashed(self.root)

    def without(self, paths: frozenset[bytes]) -> bytes:
        """Return the id the tree would have without these files."""
        held = []
        for path in paths:
            way = self._way(path)
            if way and isinstance(leaf := way[-1][0].entries.get(way[-1][1]), bytes):
                # Not `remove`: a directory that this empties may be the root of another tree.
                del way[-1][0].entries[way[-1][1]]
                held.append((way, leaf))
                _touch(way)
        oid = self.oid()
        for way, leaf in held:
            way[-1][0].entries[way[-1][1]] = leaf
            _touch(way)
        return oid

    def files(self) -> Iterator[tuple[bytes, Leaf]]:
        """Yield (path, leaf) of all files, in no useful order."""
        return _files(self.root, b"")

    def _way(self, path: bytes, *, make: bool = False) -> list[tuple[Node, bytes]]:
        """Return the (directory, entry name) pairs from the root to path; [] where a directory is missing."""
        *folders, name = path.split(b"/")
        node, way = self.root, []
        for folder in folders:
            way.append((node, folder + b"/"))
            below = node.entries.get(folder + b"/")
            if not isinstance(below, Node):
                if not make:
                    return []
                below = node.entries[folder + b"/"] = Node()
            node = below
        way.append((node, name))
        return way


def _wither(way: list[tuple[Node, bytes]]) -> None:
    """Take out the directories on a way that hold nothing any more, deepest first."""
    for node, name in reversed(way):
        below = node.entries.get(name)
        if not isinstance(below, Node) or below.entries:
            return
        del node.entries[name]


def _touch(way: list[tuple[Node, bytes]]) -> None:
    for node, _ in way:
        node.oid = None


def hashed(node: Node) -> bytes:
    """Return the id of a directory, hashing what changed. Empty directories below are left out, as git does."""
    if node.oid is None:
        parts, files = [], 0
        for name, entry in sorted(node.entries.items()):
            if isinstance(entry, bytes):
                parts.append(entry)
                files += 1
            else:
                oid = hashed(entry)
                if entry.files:
                    parts.append(b"40000 %s\0%s" % (name[:-1], oid))
                    files += entry.files
        body = b"".join(parts)
        node.oid = hashlib.sha1(b"tree %d\0" % len(body) + body, usedforsecurity=False).digest()
        node.files = files
    return node.oid


def keep(node: Node, write: Callable[[bytes], bytes], swap: Callable[[Leaf], Leaf]) -> bytes:
    """Hand every directory body below that was not kept yet to `write`, deepest first; return the root's kept id.

    write: takes a body, returns its id. swap: gives the entry to write in place of a leaf (mostly the same).
    """
    oid = hashed(node)
    if node.kept_oid == oid:
        return node.kept_as
    parts = []
    for name, entry in sorted(node.entries.items()):
        if isinstance(entry, bytes):
            parts.append(swap(entry))
        elif hashed(entry) and entry.files:
            parts.append(b"40000 %s\0%s" % (name[:-1], keep(entry, write, swap)))
    node.kept_as, node.kept_oid = write(b"".join(parts)), oid
    return node.kept_as


def _files(node: Node, folder: bytes) -> Iterator[tuple[bytes, Leaf]]:
    for name, entry in node.entries.items():
        if isinstance(entry, bytes):
            yield folder + name, entry
        else:
            yield from _files(entry, folder + name)
