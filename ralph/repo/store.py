"""The private object store of a tree: what the work tree held at each labelled moment, outside of its reach.

A git directory in the state directory, with a configuration of our own, so that git can read it (`diff-tree`); objects
are hashed and written here, without a process. Objects are durable before the label that needs them is written.
"""

from __future__ import annotations

import errno
import os
import re
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.repo.git import Git
from ralph.repo.gitdir import make_git_directory, sync_folder, write_whole
from ralph.repo.objects import (
    Entries,
    Kind,
    Pack,
    begin_write_back,
    from_loose,
    loose_bytes,
    object_id,
    stream_loose,
    tree_body,
    tree_entries,
    write_pack,
)

LOOSE_AT_ONCE = 200
"""Up to so many new objects are written as a file each, above as one pack (a file costs 0.1 to 0.3 ms)."""

_WORD = re.compile(r"(?!.*\.lock\Z)[A-Za-z0-9][A-Za-z0-9._-]{0,200}\Z")


class DamagedError(Exception):
    """An object of the store is missing or does not hash to its name."""


class Store:
    """Open with `Store.open`. Ids are hex; content is bytes; nothing is ever deleted here."""

    def __init__(self, path: Path, git: Git) -> None:
        self.path = path
        self.git = git
        self._objects = path / "objects"
        self._packs: dict[str, Pack] = {}
        self._loose_files = f"{self._objects}/"
        self._unsynced = False
        self._open_packs()

    @classmethod
    def open(cls, path: Path, git: Git) -> Store:
        """Open the store at path, or make it (0700). Raises: UserError (storage)."""
        try:
            make_git_directory(path, objects=True)
        except OSError as error:
            raise UserError(
                f"cannot make the store: {error.strerror}", where=str(path), reason=Reason.STORAGE
            ) from error
        git.adopt(path)
        return cls(path, git)

    def write_blob(self, data: bytes) -> str:
        """Keep these bytes and return their id. Raises: UserError (storage)."""
        return self.write_objects([("blob", data)])[0]

    def write_blobs(self, contents: Iterable[bytes]) -> list[str]:
        """Keep many contents and return their ids in order. Raises: UserError (storage)."""
        return self.write_objects(("blob", data) for data in contents)

    def write_file(self, place: bytes) -> str | None:
        """Keep a file without holding it in memory; None if it cannot be read or changed meanwhile.

        Raises: UserError (storage).
        """
        try:
            written = stream_loose(place, self._objects)
        except OSError as error:
            raise _storage(error, self.path) from error
        if written is None:
            return None
        oid, part = written
        if self.has(oid):
            part.unlink()
        else:
            self._put_in_place(part, oid)
        return oid

    def write_tree(self, entries: Entries) -> str:
        """Keep one directory: name -> (mode, id), see `objects.Entries`. Raises: UserError (storage)."""
        return self.write_objects([("tree", tree_body(entries))])[0]

    def write_objects(self, objects: Iterable[tuple[Kind, bytes]]) -> list[str]:
        """Keep objects, loose up to `LOOSE_AT_ONCE` and as one pack above; what is there is not written again.

        objects: taken one at a time, at most `LOOSE_AT_ONCE` held. Raises: UserError (storage).
        """
        ids: list[str] = []
        fresh: dict[bytes, tuple[Kind, bytes]] = {}
        source = iter(objects)
        try:
            for kind, data in source:
                oid = object_id(kind, data)
                ids.append(oid.hex())
                if oid not in fresh and not self._holds(oid):
                    fresh[oid] = (kind, data)
                if len(fresh) > LOOSE_AT_ONCE:
                    self._write_pack(fresh, source, ids)
                    return ids
            for oid, (kind, data) in fresh.items():
                self._write_loose(oid.hex(), loose_bytes(kind, data))
        except OSError as error:
            raise _storage(error, self.path) from error
        return ids

    def has(self, oid: str) -> bool:
        """Return whether an object is there; its bytes are not checked."""
        return self._holds(bytes.fromhex(oid))

    def read_blob(self, oid: str) -> bytes:
        """Return the content of a blob, hashed again. Raises: DamagedError."""
        return self._read(oid, "blob")

    def read_tree(self, oid: str) -> dict[bytes, tuple[bytes, str]]:
        """Return one directory: name -> (mode, id). Raises: DamagedError."""
        return {name: (mode, entry) for mode, name, entry in tree_entries(self._read(oid, "tree"))}

    def entries(self, tree_oid: str) -> dict[bytes, tuple[bytes, str]]:
        """Return all files below a tree: path -> (mode, id). Mode 160000: content not kept. Raises: DamagedError."""
        found: dict[bytes, tuple[bytes, str]] = {}
        ahead = [(b"", tree_oid)]
        while ahead:
            folder, oid = ahead.pop()
            for name, (mode, entry) in self.read_tree(oid).items():
                if mode == b"40000":
                    ahead.append((folder + name + b"/", entry))
                else:
                    found[folder + name] = (mode, entry)
        return found

    def label(self, run: str, name: str, tree: str) -> None:
        """Name a tree for later, durably: refs/ralph/RUN/NAME. Raises: UserError (storage).

        The write-back of loose files was begun when they were written; the sync of the label's own file forces one
        commit of the file system's journal, which settles them all (what git calls core.fsyncMethod=batch), and only
        then gets the label its name. A label that names nothing new costs no sync: losing it loses nothing.
        """
        folder = self._labels(run)
        assert _WORD.match(name), name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, f"{tree}\n".encode(), synced=self._unsynced)
            self._unsynced = False
        except OSError as error:
            raise _storage(error, self.path) from error

    def labels(self, run: str) -> dict[str, str]:
        """Return the trees named in a run by their names; a torn label is left out."""
        found: dict[str, str] = {}
        with suppress(FileNotFoundError):
            for file in sorted(self._labels(run).iterdir()):
                text = file.read_bytes()[:64].strip()
                if re.fullmatch(rb"[0-9a-f]{40}", text):
                    found[file.name] = text.decode()
        return found

    def size_bytes(self) -> int:
        """Return what the store takes on disk, by file sizes."""
        return sum(file.lstat().st_size for file in self.path.rglob("*") if not file.is_dir())

    def _labels(self, run: str) -> Path:
        assert _WORD.match(run), run
        return self.path / "refs" / "ralph" / run

    def _loose(self, oid: str) -> Path:
        return self._objects / oid[:2] / oid[2:]

    def _holds(self, oid: bytes) -> bool:
        name = oid.hex()
        # os.stat: this is asked for every object of a first save, and Path.exists costs three times as much.
        try:
            if os.stat(f"{self._loose_files}{name[:2]}/{name[2:]}").st_size:  # noqa: PTH116
                return True  # an empty one is what a loss of power can leave of a file
        except OSError:
            pass
        return any(pack.offset(oid) is not None for pack in self._packs.values())

    def _open_packs(self) -> None:
        for index in (self._objects / "pack").glob("*.idx"):
            if index.name not in self._packs:
                with suppress(ValueError, OSError):
                    self._packs[index.name] = Pack(index)

    def _write_loose(self, oid: str, raw: bytes) -> None:
        part = self._objects / f"tmp_obj_{os.getpid()}"
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            view = memoryview(raw)
            while view:
                view = view[os.write(descriptor, view) :]
            begin_write_back(descriptor)
        finally:
            os.close(descriptor)
        self._put_in_place(part, oid)

    def _put_in_place(self, part: Path, oid: str) -> None:
        target = self._loose(oid)
        try:
            part.rename(target)
        except FileNotFoundError:
            target.parent.mkdir(exist_ok=True)
            part.rename(target)
        self._unsynced = True

    def _write_pack(
        self, first: dict[bytes, tuple[Kind, bytes]], rest: Iterable[tuple[Kind, bytes]], ids: list[str]
    ) -> None:
        seen = set(first)

        def unknown() -> Iterable[tuple[bytes, Kind, bytes]]:
            while first:
                oid, (kind, data) = first.popitem()
                yield oid, kind, data
            for kind, data in rest:
                oid = object_id(kind, data)
                ids.append(oid.hex())
                if oid not in seen and not self._holds(oid):
                    seen.add(oid)
                    yield oid, kind, data

        write_pack(self._objects / "pack", unknown())
        sync_folder(self._objects / "pack")
        self._open_packs()
        self._unsynced = True

    def _read(self, oid: str, kind: Kind) -> bytes:
        try:
            found = self._found(oid)
        except (OSError, ValueError, zlib.error) as error:
            raise DamagedError(f"object {oid} is damaged: {error}") from error
        if found is None:
            raise DamagedError(f"object {oid} is missing")
        if found[0] != kind or object_id(kind, found[1]).hex() != oid:
            raise DamagedError(f"object {oid} does not hold what its name says")
        return found[1]

    def _found(self, oid: str) -> tuple[str, bytes] | None:
        with suppress(FileNotFoundError):
            return from_loose(self._loose(oid).read_bytes())
        if not self._holds(bytes.fromhex(oid)):
            self._open_packs()  # another process of ours may have written one since
        for pack in self._packs.values():
            at = pack.offset(bytes.fromhex(oid))
            if at is not None and (found := pack.read(at)) is not None:
                return found
        return None


def _storage(error: OSError, path: Path) -> UserError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    fix = "Free some space or move the state with --state-dir." if full else ""
    return UserError(f"the store cannot be written: {error.strerror}", where=str(path), fix=fix, reason=Reason.STORAGE)
