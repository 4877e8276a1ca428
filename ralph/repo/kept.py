"""The form in which files are kept outside the work tree: a manifest, the bytes, and the proof that they are the same.

Layout of one kept set: `manifest.jsonl` (a header, then one row an entry) and `files/ROOT/PATH`. Written by `keep`,
read by `restore`. Every byte is checked when it is read back: kept files lie in reach of the agent's user.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SCHEMA = 1
MANIFEST = "manifest.jsonl"
CHUNK = 1 << 20
LOOSE = re.compile(r"(?:^|/)objects/([0-9a-f]{2})/([0-9a-f]{38}|[0-9a-f]{62})$")
PACK = re.compile(r"(?:^|/)objects/pack/pack-([0-9a-f]{40}|[0-9a-f]{64})\.(?:pack|idx)$")

Kind = Literal["file", "link", "dir"]


class KeptDamageError(Exception):
    """What was kept is not what was written down; args[0] names the file and how it differs."""


@dataclass(frozen=True, slots=True)
class Row:
    """One kept entry. root: index into `Manifest.roots`. path: below it, surrogateescape. mode: permission bits.

    check: "sha256:HEX" of the bytes, "loose" (the path is the hash of the object inside) or "trailer:HEX" (a pack
    ends with the hash of all before, and that end was written down); "" for links and directories.
    text: of a link, else "".
    """

    root: int
    path: str
    kind: Kind
    mode: int
    size: int = 0
    mtime_ns: int = 0
    check: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Root:
    """Where a set of rows lives in the world: an absolute directory, and the path below it that they begin with.

    base is opened and never left; prefix ("" or "a/.git") is walked from there without following links.
    """

    base: str
    prefix: str = ""

    def at(self, path: str) -> str:
        """Return a row's path below `base`."""
        return f"{self.prefix}/{path}" if self.prefix else path


@dataclass(frozen=True, slots=True)
class Manifest:
    """All rows of a kept set. folder: where it lies. facts: free words of whoever kept it."""

    folder: Path
    roots: tuple[Root, ...]
    facts: Mapping[str, str]
    rows: tuple[Row, ...]

    def stored(self, row: Row) -> Path:
        """Return where a row's bytes lie."""
        return stored(self.folder, row.root, row.path)

    def chunks(self, row: Row) -> Iterator[bytes]:
        """Yield a file's bytes; check them first if they are objects, else at the end.

        Raises: KeptDamageError before the caller has the last chunk in place, OSError.
        """
        path = self.stored(row)
        verify(path, row)
        with open(path, "rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk


def stored(folder: Path, root: int, path: str) -> Path:
    """Return where a file of this root and path is kept."""
    return folder / "files" / str(root) / path


def make_private(folder: Path) -> None:
    """Make a folder and every missing one above it, all 0700. Raises: OSError."""
    if not folder.is_dir():
        make_private(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)


def write_manifest(manifest: Manifest) -> str:
    """Write `manifest.jsonl` (0600) and return its sha256, for the journal."""
    header = {"schema": SCHEMA, "roots": [[r.base, r.prefix] for r in manifest.roots], "facts": dict(manifest.facts)}
    lines = [json.dumps(header)]
    lines += [json.dumps([r.root, r.path, r.kind, r.mode, r.size, r.mtime_ns, r.check, r.text]) for r in manifest.rows]
    data = ("\n".join(lines) + "\n").encode("ascii")
    fd = os.open(manifest.folder / MANIFEST, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fdatasync(fd)
    return hashlib.sha256(data).hexdigest()


def read_manifest(folder: Path, *, digest: str | None = None) -> Manifest:
    """Return a kept set's manifest. digest: what `write_manifest` returned, None where it is not known.

    Raises: FileNotFoundError where nothing was kept; KeptDamageError for a manifest that is not ours.
    """
    data = (folder / MANIFEST).read_bytes()
    if digest is not None and hashlib.sha256(data).hexdigest() != digest:
        raise KeptDamageError(f"{folder / MANIFEST}: not what was written at the start")
    try:
        head, *lines = data.splitlines()
        header = json.loads(head)
        roots = tuple(Root(str(base), str(prefix)) for base, prefix in header["roots"])
        facts = {str(key): str(value) for key, value in header["facts"].items()}
        rows = tuple(Row(*json.loads(line)) for line in lines)
        known = header["schema"] == SCHEMA and all(0 <= row.root < len(roots) for row in rows)
    except (ValueError, KeyError, TypeError) as error:
        raise KeptDamageError(f"{folder / MANIFEST}: {error}") from error
    if not known:
        raise KeptDamageError(f"{folder / MANIFEST}: unknown form")
    return Manifest(folder, roots, facts, rows)


def check_of(path: Path, name: str) -> str:
    """Return the check of a file just kept. name: its path below its root, which tells what it is."""
    if LOOSE.search(name):
        return "loose"
    if found := PACK.search(name):
        size = len(found[1]) // 2
        with open(path, "rb") as file:
            file.seek(-min(size, os.fstat(file.fileno()).st_size), os.SEEK_END)
            return f"trailer:{file.read(size).hex()}"
    with open(path, "rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def verify(path: Path, row: Row) -> None:
    """Hash a kept file again. Raises: KeptDamageError where it is not what the row says, or missing."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size != row.size:
                raise KeptDamageError(f"{row.path}: other length than kept")
            same = _is_same(path, row)
    except OSError as error:
        raise KeptDamageError(f"{row.path}: {error.strerror}") from error
    if not same:
        raise KeptDamageError(f"{row.path}: other content than kept")


def _is_same(path: Path, row: Row) -> bool:
    how, _, value = row.check.partition(":")
    if how == "loose":
        return _object_id(path, row.path) == _named_id(row.path)
    if how == "trailer":
        return _trailer_holds(path, bytes.fromhex(value))
    return check_of(path, "") == row.check


def _named_id(name: str) -> str:
    found = LOOSE.search(name)
    return found[1] + found[2] if found else ""


def _object_id(path: Path, name: str) -> str | None:
    """Return the id of the object in a loose object file, None where it cannot be unpacked. Source: gitformat-loose."""
    digest = _hash_for(len(_named_id(name)) // 2)
    unpack = zlib.decompressobj()
    try:
        with open(path, "rb") as file:
            while chunk := file.read(CHUNK):
                while chunk:  # bounded output: a few bytes can unpack to gigabytes
                    digest.update(unpack.decompress(chunk, CHUNK))
                    chunk = unpack.unconsumed_tail
    except zlib.error:
        return None
    return digest.hexdigest() if unpack.eof else None


def _trailer_holds(path: Path, trailer: bytes) -> bool:
    digest = _hash_for(len(trailer))
    left = path.stat().st_size - len(trailer)
    with open(path, "rb") as file:
        while left > 0 and (chunk := file.read(min(CHUNK, left))):
            digest.update(chunk)
            left -= len(chunk)
        return digest.digest() == trailer == file.read()


def _hash_for(size_bytes: int) -> hashlib._Hash:
    return hashlib.sha256() if size_bytes == 32 else hashlib.sha1(usedforsecurity=False)
