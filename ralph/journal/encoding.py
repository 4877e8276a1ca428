"""Writes values of `ralph.facts` as plain JSON: one function a type hint, made once and kept."""

from __future__ import annotations

import base64
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from ralph.journal.shapes import Misshapen, kebab, key_of, split, tag_of

Encode = Callable[[Any], object]


def iso(moment: datetime) -> str:
    """Return ISO 8601 in UTC with a "Z"; an unaware moment is a bug."""
    if moment.tzinfo is None:
        raise Misshapen("a moment without a zone")
    return moment.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def _same(value: Any) -> object:
    return value


def _finite(value: float) -> object:
    if not math.isfinite(value):
        raise Misshapen(f"{value} has no word in JSON")
    return value


SCALARS: dict[Any, Encode] = {
    str: _same,
    int: _same,
    bool: _same,
    object: _same,
    float: _finite,
    bytes: lambda value: base64.b64encode(value).decode("ascii"),
    datetime: iso,
}
"""Hints without parts."""


@cache
def encoder(hint: Any) -> Encode:
    """Return the function that writes values of this hint."""
    if hint in SCALARS:
        return SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return lambda value: value.value
    if isinstance(hint, type) and issubclass(hint, Path):
        return str
    if is_dataclass(hint):
        return _record_encoder(cast(type, hint))
    return _generic_encoder(hint)


def _record_encoder(cls: type) -> Encode:
    hints = get_type_hints(cls)
    parts = tuple((key_of(f), f.name, encoder(hints[f.name])) for f in fields(cast(Any, cls)))

    def encode(value: Any) -> object:
        return {
            key: getattr(value, name) if write is _same else write(getattr(value, name)) for key, name, write in parts
        }

    return encode


def _generic_encoder(hint: Any) -> Encode:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _same
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        item = encoder(args[0])
        return list if item is _same else lambda value: [item(part) for part in value]
    if origin is tuple:
        writers = tuple(encoder(arg) for arg in args)
        return lambda value: [write(part) for write, part in zip(writers, value, strict=True)]
    if origin is frozenset:
        item = encoder(args[0])
        return lambda value: sorted((item(part) for part in value), key=str)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        item = encoder(args[1])
        return lambda value: {key: item(value[key]) for key in sorted(value)}
    if origin in (Union, types.UnionType):
        return _union_encoder(args)
    raise TypeError(f"no JSON form for {hint}")


def _union_encoder(args: tuple[Any, ...]) -> Encode:
    records, others = split(args)
    if len(records) + len(others) == 1:
        one = encoder((records + others)[0])
        return _same if one is _same else lambda value: None if value is None else one(value)
    if others and (records or any(encoder(other) is not _same for other in others)):
        raise TypeError(f"no JSON form for the union {args}")
    if others:
        return _same
    tag, writers = tag_of(records), {cls: (kebab(cls), encoder(cls)) for cls in records}

    def encode(value: Any) -> object:
        if value is None:
            return None
        name, write = writers[type(value)]
        return {tag: name, **cast(dict[str, object], write(value))}

    return encode
