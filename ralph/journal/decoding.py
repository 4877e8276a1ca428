"""Reads plain JSON as values of `ralph.facts`: one function a type hint, made once and kept."""

from __future__ import annotations

import base64
import binascii
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from ralph.journal.shapes import Misshapen, kebab, key_of, split, tag_of

Decode = Callable[[object], Any]


def _told(data: object) -> str:
    return "null" if data is None else type(data).__name__


def _text(data: object) -> str:
    if type(data) is not str:
        raise Misshapen(f"expected text, got {_told(data)}")
    return data


def _whole(data: object) -> int:
    if type(data) is not int:
        raise Misshapen(f"expected a whole number, got {_told(data)}")
    return data


def _claim(data: object) -> bool:
    if type(data) is not bool:
        raise Misshapen(f"expected true or false, got {_told(data)}")
    return data


def _number(data: object) -> float:
    if type(data) is float and math.isfinite(data):
        return data
    if type(data) is int and abs(data) < 1 << 1000:
        return float(data)
    raise Misshapen(f"expected a number, got {_told(data)}")


def _bytes(data: object) -> bytes:
    try:
        return base64.b64decode(_text(data).encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise Misshapen("expected base64") from None


def _moment(data: object) -> datetime:
    try:
        moment = datetime.fromisoformat(_text(data))
        if moment.tzinfo is UTC:
            return moment
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except Misshapen:
        raise
    except (ValueError, OverflowError):
        pass
    raise Misshapen("expected an ISO date and time with a zone")


SCALARS: dict[Any, Decode] = {
    str: _text,
    int: _whole,
    bool: _claim,
    object: lambda data: data,
    float: _number,
    bytes: _bytes,
    datetime: _moment,
}
"""Hints without parts."""


def _choice(words: Mapping[Any, Any]) -> Decode:
    kinds = {type(word) for word in words}

    def decode(data: object) -> Any:
        # The type is asked first: True == 1 in a dict, and a list has no hash.
        if type(data) not in kinds or data not in words:
            raise Misshapen(f"expected one of {', '.join(map(str, words))}")
        return words[data]

    return decode


def _each(data: object, item: Decode) -> list[Any]:
    if type(data) is not list:
        raise Misshapen(f"expected a list, got {_told(data)}")
    found: list[Any] = []
    try:
        for part in data:
            found.append(item(part))
    except Misshapen as error:
        raise error.under(f"[{len(found)}]") from None
    return found


def _series(item: Decode) -> Decode:
    return lambda data: () if data == [] else tuple(_each(data, item))


def _fixed(readers: tuple[Decode, ...]) -> Decode:
    def decode(data: object) -> Any:
        parts = _each(data, lambda part: part)
        if len(parts) != len(readers):
            raise Misshapen(f"expected {len(readers)} items, got {len(parts)}")
        found = []
        for at, (read, part) in enumerate(zip(readers, parts, strict=True)):
            try:
                found.append(read(part))
            except Misshapen as error:
                raise error.under(f"[{at}]") from None
        return tuple(found)

    return decode


def _mapping(item: Decode) -> Decode:
    def decode(data: object) -> Any:
        if type(data) is not dict:
            raise Misshapen(f"expected an object, got {_told(data)}")
        found = {}
        for key, part in data.items():
            try:
                found[key] = item(part)
            except Misshapen as error:
                raise error.under(f".{key}") from None
        return found

    return decode


@cache
def decoder(hint: Any) -> Decode:
    """Return the function that reads values of this hint; it raises Misshapen and nothing else."""
    if hint in SCALARS:
        return SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice({member.value: member for member in hint})
    if isinstance(hint, type) and issubclass(hint, Path):
        return lambda data: Path(_text(data))
    if is_dataclass(hint):
        return _record_decoder(cast(type, hint))
    return _generic_decoder(hint)


_AS_IT_IS = frozenset({str, int, bool, type(None)})


def _plain(hint: Any) -> frozenset[type]:
    """Return the types whose values need no reading for this hint: most fields are one of these."""
    args = set(get_args(hint)) if get_origin(hint) in (Union, types.UnionType) else {hint}
    return frozenset(args) if args <= _AS_IT_IS else frozenset()


_ABSENT = object()


def _default(field: Field[Any]) -> Callable[[], Any] | None:
    if field.default_factory is not MISSING:
        return field.default_factory
    return None if field.default is MISSING else lambda: field.default


def _record_decoder(cls: type) -> Decode:
    hints = get_type_hints(cls)
    assert "__slots__" in vars(cls), cls
    assert not hasattr(cls, "__post_init__"), cls
    # The slots are filled directly: half the time of the generated __init__, and a long journal is mostly this.
    parts = tuple(
        (key_of(f), getattr(cls, f.name).__set__, _plain(hints[f.name]), decoder(hints[f.name]), _default(f))
        for f in fields(cast(Any, cls))
    )

    def decode(data: object) -> Any:
        if type(data) is not dict:
            raise Misshapen(f"expected an object, got {_told(data)}")
        made: Any = object.__new__(cls)
        find, key = data.get, ""
        try:
            for key, fill, plain, read, default in parts:
                value = find(key, _ABSENT)
                if type(value) in plain:
                    fill(made, value)
                elif value is not _ABSENT:
                    fill(made, read(value))
                elif default is not None:
                    fill(made, default())
                else:
                    break
            else:
                return made
        except Misshapen as error:
            raise error.under(f".{key}") from None
        raise Misshapen(f"without {key}")

    return decode


def _generic_decoder(hint: Any) -> Decode:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _choice({word: word for word in args})
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        return _series(decoder(args[0]))
    if origin is tuple:
        return _fixed(tuple(decoder(arg) for arg in args))
    if origin is frozenset:
        item = decoder(args[0])
        return lambda data: frozenset(_each(data, item))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(decoder(args[1]))
    if origin in (Union, types.UnionType):
        return _union_decoder(args)
    raise TypeError(f"no JSON form for {hint}")


def _union_decoder(args: tuple[Any, ...]) -> Decode:
    records, others = split(args)
    if len(records) > 1:
        one = _tagged(tag_of(records), {kebab(cls): decoder(cls) for cls in records})
    else:
        one = _first_of(tuple(decoder(part) for part in records + others))
    if type(None) not in args:
        return one
    return lambda data: None if data is None else one(data)


def _tagged(tag: str, readers: dict[str, Decode]) -> Decode:
    def decode(data: object) -> Any:
        name = data.get(tag) if isinstance(data, dict) else None
        if not isinstance(name, str) or name not in readers:
            raise Misshapen(f"expected an object whose {tag} is one of {', '.join(readers)}")
        return readers[name](data)

    return decode


def _first_of(readers: tuple[Decode, ...]) -> Decode:
    if len(readers) == 1:
        return readers[0]

    def decode(data: object) -> Any:
        for read in readers[:-1]:
            try:
                return read(data)
            except Misshapen:
                continue
        return readers[-1](data)

    return decode
