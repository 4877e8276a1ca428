"""Bring the content of the newest look into the store: new files read again and proved, changed directories, a root."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator

from ralph.repo.look import Look
from ralph.repo.merkle import Leaf, keep, oid_of
from ralph.repo.objects import GITLINK, Kind, object_id
from ralph.repo.reading import SAMPLE_ABOVE, see
from ralph.repo.store import Store

FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Saver:
    """Remembers what it could not keep. most_bytes: larger files are not kept."""

    def __init__(self, store: Store, *, most_bytes: int) -> None:
        self.lost: dict[bytes, str] = {}
        """Path -> why its content is not in the store, as of the newest save."""
        self._store = store
        self._most = most_bytes
        self._swaps: dict[bytes, bytes] = {}
        """Id in the look -> mode and id in the store, where they differ."""

    def save(self, look: Look) -> str:
        """Save a look with all below it, and return the id of the saved tree. Raises: UserError (storage)."""
        self._store.write_objects(self._contents(look))
        bodies: list[bytes] = []

        def write(body: bytes) -> bytes:
            bodies.append(body)
            return object_id("tree", body)

        root = keep(look.tree.root, write, self._swapped)
        self._store.write_objects(("tree", body) for body in bodies)
        return root.hex()

    def _swapped(self, leaf: Leaf) -> Leaf:
        swap = self._swaps.get(oid_of(leaf))
        return leaf if swap is None else swap[:6] + leaf[6:-20] + swap[6:]

    def _contents(self, top: Look) -> Iterator[tuple[Kind, bytes]]:
        for look in top.everything():
            for path in sorted(look.unkept):
                content = look.tree.get(path)
                shown = look.site.prefix + path
                self.lost.pop(shown, None)
                if content is None:
                    continue
                if content[:6] == GITLINK:
                    yield from self._large(look.root + path, content, shown)
                elif not self._store.has(content[6:].hex()):
                    yield from self._proved(look.root + path, content, shown)
            look.unkept.clear()

    def _proved(self, place: bytes, content: bytes, shown: bytes) -> Iterator[tuple[Kind, bytes]]:
        """Yield a file's bytes if they still are what the look saw."""
        data = _bytes_of(place, link=content[:6] == b"120000")
        oid = content[6:]
        if data is not None and object_id("blob", data) == oid:
            self._swaps.pop(oid, None)
            yield "blob", data
        else:
            self.lost[shown] = "changed while it was saved"
            self._swaps[oid] = GITLINK + oid

    def _large(self, place: bytes, content: bytes, shown: bytes) -> Iterator[tuple[Kind, bytes]]:
        """Keep a file whose look was a sample, whole, and note under which id; too large or no file: lost."""
        oid = content[6:]
        if oid in self._swaps:
            return
        try:
            status = os.lstat(place)
        except OSError:
            self.lost[shown] = "vanished while it was saved"
            return
        if not stat.S_ISREG(status.st_mode):
            self.lost[shown] = "neither file nor link"
        elif status.st_size <= SAMPLE_ABOVE:
            self.lost[shown] = "could not be read"
        elif status.st_size > self._most:
            self.lost[shown] = f"larger than {self._most} bytes"
        else:
            kept = self._store.write_file(place)
            if kept is None or see(place, 0).content != content:
                self.lost[shown] = "changed while it was saved"
            else:
                self._swaps[oid] = (b"100755" if status.st_mode & 0o100 else b"100644") + bytes.fromhex(kept)
        yield from ()


def _bytes_of(place: bytes, *, link: bool) -> bytes | None:
    """Return the bytes of a file or the text of a link, None if it is not there or something else."""
    try:
        if link:
            return os.readlink(place)  # noqa: PTH115 - bytes, which Path cannot hold
        descriptor = os.open(place, FLAGS)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > SAMPLE_ABOVE:
                return None
            parts = []
            while part := os.read(descriptor, status.st_size + 1):
                parts.append(part)
            return b"".join(parts)
        finally:
            os.close(descriptor)
    except OSError:
        return None


def digest_of(nonce: bytes, oid: bytes) -> str:
    """Return an id that no other tree has, for one that could not be read in full."""
    return hashlib.sha1(nonce + oid, usedforsecurity=False).hexdigest()
