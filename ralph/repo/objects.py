"""Git objects as bytes: hashing, loose files and delta-free packs, read and written here (no process, no filter)."""

from __future__ import annotations

import hashlib
import mmap
import os
import stat
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Literal

Kind = Literal["blob", "tree", "commit"]

NUMBERS: dict[Kind, int] = {"commit": 1, "tree": 2, "blob": 3}
KINDS = {number: kind for kind, number in NUMBERS.items()}
LEVEL = 1
"""Compression: the store is for coming back, not for the archive."""

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
GITLINK = b"160000"
"""Mode of an entry whose content is not in the store: sampled, special, unreadable or changed while it was saved."""

Entries = Mapping[bytes, tuple[bytes, str]]
"""Name or path -> (octal mode as git writes it, object id in hex)."""


def private(path: str, flags: int) -> int:
    """Open a file that nobody else may read, as an `opener`."""
    return os.open(path, flags, 0o600)


def object_id(kind: Kind, data: bytes) -> bytes:
    """Return the 20 bytes that git names this content by."""
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(data)) + data, usedforsecurity=False).digest()


def tree_body(entries: Entries) -> bytes:
    """Return the bytes of one tree object; names without "/", directories with mode 40000."""
    named = sorted(
        (name + b"/" if mode == b"40000" else name, mode, name, oid) for name, (mode, oid) in entries.items()
    )
    return b"".join(b"%s %s\0%s" % (mode, name, bytes.fromhex(oid)) for _, mode, name, oid in named)


def tree_entries(body: bytes) -> Iterator[tuple[bytes, bytes, str]]:
    """Yield (mode, name, object id) of one tree object. Raises: ValueError when it is torn."""
    at = 0
    while at < len(body):
        zero = body.index(b"\0", at)
        mode, _, name = body[at:zero].partition(b" ")
        yield mode, name, body[zero + 1 : zero + 21].hex()
        at = zero + 21


def loose_bytes(kind: Kind, data: bytes) -> bytes:
    """Return what a loose object file holds."""
    return zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data, LEVEL)


def from_loose(raw: bytes) -> tuple[str, bytes]:
    """Return (kind, content) of a loose object file. Raises: ValueError, zlib.error when it is damaged."""
    head, _, data = zlib.decompress(raw).partition(b"\0")
    return head.split(b" ")[0].decode(), data


def begin_write_back(descriptor: int) -> None:
    """Have the system begin to write a file out, without waiting for it where it can be told so."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    else:
        os.fsync(descriptor)


def stream_loose(place: bytes, folder: Path) -> tuple[str, Path] | None:
    """Write a file as a loose object into folder, piece by piece; return its id and where it is.

    None if it cannot be read, is no regular file, or changed its length. Raises: OSError when writing fails.
    """
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    part = folder / f"tmp_file_{os.getpid()}"
    with open(descriptor, "rb", buffering=0) as source, open(part, "wb", opener=private) as target:
        status = os.fstat(descriptor)
        head = b"blob %d\0" % status.st_size
        digest, deflate, size = hashlib.sha1(head, usedforsecurity=False), zlib.compressobj(LEVEL), 0
        target.write(deflate.compress(head))
        while chunk := source.read(1 << 20) if stat.S_ISREG(status.st_mode) else b"":
            size += len(chunk)
            digest.update(chunk)
            target.write(deflate.compress(chunk))
        target.write(deflate.flush())
        target.flush()
        begin_write_back(target.fileno())
    if size == status.st_size and size:
        return digest.hexdigest(), part
    part.unlink()
    return None


def write_pack(folder: Path, objects: Iterable[tuple[bytes, Kind, bytes]]) -> Path | None:
    """Write (id, kind, content) triples as one synced pack with its index into folder; None if there were none.

    Source: gitformat-pack(5), pack version 2, index version 2.
    """
    rows: list[tuple[bytes, int, int]] = []
    part = folder / f"tmp_pack_{os.getpid()}"
    with open(part, "wb+", opener=private) as file:
        file.write(struct.pack(">4sII", b"PACK", 2, 0))
        at = 12
        for oid, kind, data in objects:
            record = _pack_head(NUMBERS[kind], len(data)) + zlib.compress(data, LEVEL)
            file.write(record)
            rows.append((oid, zlib.crc32(record), at))
            at += len(record)
        if not rows:
            part.unlink()
            return None
        checksum = _sealed(file, len(rows))
    rows.sort()
    name = hashlib.sha1(b"".join(oid for oid, _, _ in rows), usedforsecurity=False).hexdigest()
    index = folder / f"tmp_idx_{os.getpid()}"
    with open(index, "wb", opener=private) as file:
        file.write(_pack_index(rows, checksum))
        file.flush()
        os.fsync(file.fileno())
    part.rename(folder / f"pack-{name}.pack")
    # The index comes last: git and we look for packs by their index.
    index.rename(folder / f"pack-{name}.idx")
    return folder / f"pack-{name}.pack"


def _sealed(file: BinaryIO, count: int) -> bytes:
    """Put the count into the header and the checksum at the end, sync, return the checksum."""
    file.seek(8)
    file.write(struct.pack(">I", count))
    file.seek(0)
    digest = hashlib.sha1(usedforsecurity=False)
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    file.write(digest.digest())
    file.flush()
    os.fsync(file.fileno())
    return digest.digest()


def _pack_head(number: int, size: int) -> bytes:
    first, size = number << 4 | size & 15, size >> 4
    out = bytearray()
    while size:
        out.append(first | 128)
        first, size = size & 127, size >> 7
    out.append(first)
    return bytes(out)


def _pack_index(rows: list[tuple[bytes, int, int]], checksum: bytes) -> bytes:
    counts = [0] * 256
    for oid, _, _ in rows:
        counts[oid[0]] += 1
    fan = [sum(counts[: i + 1]) for i in range(256)]
    far = [at for _, _, at in rows if at >= 1 << 31]
    near = iter(range(len(far)))
    offsets = [at if at < 1 << 31 else 1 << 31 | next(near) for _, _, at in rows]
    body = struct.pack(">4sI256I", b"\xfftOc", 2, *fan)
    body += b"".join(oid for oid, _, _ in rows)
    body += struct.pack(f">{len(rows)}I", *(crc for _, crc, _ in rows))
    body += struct.pack(f">{len(rows)}I", *offsets) + struct.pack(f">{len(far)}Q", *far) + checksum
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


class Pack:
    """One pack of ours, opened by its index for looking up and reading. Raises on damage: ValueError, OSError."""

    def __init__(self, index: Path) -> None:
        self._file = index.with_suffix(".pack")
        with index.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._map[:8] != struct.pack(">4sI", b"\xfftOc", 2):
            raise ValueError(f"{index}: not a pack index of version 2")
        self.count: int = struct.unpack(">I", self._map[8 + 1020 : 8 + 1024])[0]

    def close(self) -> None:
        """Let the file go."""
        self._map.close()

    def offset(self, oid: bytes) -> int | None:
        """Return where the object lies in the pack, None if it is not there."""
        low, high = self._fan(oid[0] - 1) if oid[0] else 0, self._fan(oid[0])
        found = bisect_left(_Names(self._map), oid, low, high)
        if found >= high or self._map[1032 + 20 * found : 1052 + 20 * found] != oid:
            return None
        table = 1032 + 24 * self.count
        (at,) = struct.unpack(">I", self._map[table + 4 * found : table + 4 * found + 4])
        if at >> 31:
            far = table + 4 * self.count + 8 * (at & 0x7FFFFFFF)
            (at,) = struct.unpack(">Q", self._map[far : far + 8])
        return int(at)

    def read(self, at: int) -> tuple[str, bytes] | None:
        """Return (kind, content) of the object at an offset; None for a delta, which we never write."""
        with self._file.open("rb") as file:
            file.seek(at)
            byte = file.read(1)[0]
            number = byte >> 4 & 7
            while byte & 128:
                byte = file.read(1)[0]
            if number not in KINDS:
                return None
            inflate, parts = zlib.decompressobj(), []
            while not inflate.eof and (chunk := file.read(1 << 18)):
                parts.append(inflate.decompress(chunk))
            if not inflate.eof:
                raise ValueError(f"{self._file}: ends inside an object")
        return KINDS[number], b"".join(parts)

    def _fan(self, byte: int) -> int:
        return int(struct.unpack(">I", self._map[8 + 4 * byte : 12 + 4 * byte])[0])


class _Names:
    """The sorted ids of a pack index, as `bisect` wants them."""

    def __init__(self, index: mmap.mmap) -> None:
        self._map = index

    def __len__(self) -> int:
        return (len(self._map) - 1072) // 28

    def __getitem__(self, i: int) -> bytes:
        return self._map[1032 + 20 * i : 1052 + 20 * i]
