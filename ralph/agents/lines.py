"""JSON lines of an agent into lean records: one pass, only the declared fields, never an exception (B5).

Accepts an object a line, an array of objects on one line, and a document spread over lines (R017).
"""

from __future__ import annotations

import json
from typing import Generic, TypeVar

import msgspec

Record = TypeVar("Record", bound=msgspec.Struct)

PENDING_CAP = 8 << 20
"""Most bytes kept of output that is no JSON line, in case all of it is one document."""


class Lines(Generic[Record]):
    """Decodes one run's stdout.

    record: a struct whose fields are all `object` with a default, so that no type a program invents can fail;
    unknown fields are skipped without being built. swift: the same with fields left raw, tried first.
    """

    def __init__(self, record: type[Record], *, swift: type[Record] | None = None) -> None:
        self._record = record
        self._decode = msgspec.json.Decoder(swift or record).decode
        self._understood = False
        self._pending: list[bytes] = []
        self._held = 0

    def take(self, line: bytes) -> tuple[Record, ...]:
        """Return the records of one line, () if it is not (yet) JSON."""
        try:
            # Nearly every line is one object; this is the path that has to be fast.
            record = self._decode(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return self._slowly(line.strip(b" \t\r\n\x00").removeprefix(b"\xef\xbb\xbf"))
        if not self._understood:
            self._understand()
        return (record,)

    def rest(self) -> tuple[Record, ...]:
        """Return the records of a document spread over lines; a half line yields nothing (R015)."""
        whole = b"\n".join(self._pending)
        self._understand()
        return self._records(loaded(whole)) if whole else ()

    def _slowly(self, line: bytes) -> tuple[Record, ...]:
        if not line:
            return ()
        records = self._records(loaded(line)) if line[:1] in b"{[" else ()
        if records:
            self._understand()
        elif not self._understood and self._held + len(line) <= PENDING_CAP:
            self._pending.append(line)
            self._held += len(line) + 1
        return records

    def _understand(self) -> None:
        self._understood = True
        self._pending = []

    def _records(self, value: object) -> tuple[Record, ...]:
        values = value if isinstance(value, list) else [value]
        return tuple(msgspec.convert(v, self._record) for v in values if isinstance(v, dict))


def loaded(data: bytes) -> object:
    """Return the value of JSON as Python's own parser reads it: NaN, lone surrogates and huge floats included."""
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


class Seen:
    """The newest keys met, to drop what an agent prints twice; bounded, so it forgets the oldest."""

    def __init__(self, cap: int = 4096) -> None:
        self._keys: dict[str, None] = {}
        self._cap = cap

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def add(self, key: str) -> bool:
        """Return whether the key is new, and remember it."""
        if key in self._keys:
            return False
        self._keys[key] = None
        if len(self._keys) > self._cap:
            del self._keys[next(iter(self._keys))]
        return True
