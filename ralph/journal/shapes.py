"""What writing and reading share: the complaint, the names of keys and of tags."""

from __future__ import annotations

import re
from dataclasses import Field, fields, is_dataclass
from typing import Any, cast


class Misshapen(ValueError):  # noqa: N818 - says what the data is
    """Data that does not have the shape of its type. path: where, like `.trees.before.id` or `.suites[2]`."""

    def __init__(self, what: str, path: str = "") -> None:
        super().__init__(f"{path or '.'}: {what}")
        self.what = what
        self.path = path

    def under(self, step: str) -> Misshapen:
        """Return the same complaint seen from one level up."""
        return Misshapen(self.what, step + self.path)


def key_of(field: Field[Any]) -> str:
    """Return the JSON key of a dataclass field."""
    return field.name.rstrip("_")


def kebab(cls: type) -> str:
    """Return the tag of a dataclass: PromiseGate is "promise-gate"."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()


def tag_of(members: tuple[type, ...]) -> str:
    """Return the key under which a union of these carries its tag."""
    taken = any(f.name == "kind" for member in members for f in fields(cast(Any, member)))
    return "type" if taken else "kind"


def split(args: tuple[Any, ...]) -> tuple[tuple[type, ...], tuple[Any, ...]]:
    """Return (dataclass members, other members but None) of a union."""
    records = tuple(a for a in args if is_dataclass(a))
    others = tuple(a for a in args if not is_dataclass(a) and a is not type(None))
    return cast(tuple[type, ...], records), others
