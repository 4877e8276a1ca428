"""Turns the frozen records of `ralph.facts` into plain JSON values and back, by their type hints alone.

Dataclass: object, one key a field (a trailing "_" of a field name is dropped). Enum: its value. tuple: list.
frozenset: sorted list. Mapping: object, keys sorted. datetime: ISO 8601 in UTC with "Z". bytes: base64.
Path: text. A union of several dataclasses carries a tag: the class name in kebab case under "kind" ("type"
where a member has a field `kind`). Reading ignores unknown keys and gives missing ones their default.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar, cast

from ralph.journal.decoding import decoder
from ralph.journal.encoding import encoder, iso
from ralph.journal.shapes import Misshapen

__all__ = ["Misshapen", "dumps", "from_json", "iso", "to_json"]

T = TypeVar("T")


def to_json(value: object, hint: Any = None) -> object:
    """Return the plain JSON form. hint: needed only where the value is one of a union at the top.

    Raises: Misshapen for a number that JSON has no word for (NaN, infinity).
    """
    chosen: Any = hint if hint is not None else type(value)
    return encoder(chosen)(value)


def from_json(cls: type[T], data: object) -> T:
    """Return the value of this type. Raises: Misshapen, with the path of the first thing that is wrong."""
    hint: Any = cls
    return cast(T, decoder(hint)(data))


def dumps(data: object) -> str:
    """Return strict one-line JSON in ASCII; lone surrogates stay what they are. Raises: ValueError for NaN."""
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
