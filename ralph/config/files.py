"""Reads configuration files, which an agent may have replaced by a pipe, a link or ten gigabytes (fault C3)."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import tomli

from ralph.errors import UserError

MOST_BYTES = 1 << 20
TOOL = "tool.ralph."

HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]")
ASSIGNMENT = re.compile(
    r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)
PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file whose content a run obeys. sha256: hex of what counts in it, None if it is not there.

    Of pyproject.toml only `[tool.ralph]` counts: an agent may add a dependency without a word from us.
    """

    path: Path
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Source:
    """One file read. name: as messages show it. table: its keys; lines: where each key stands, by dotted path."""

    file: ConfigFile
    name: str
    table: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    prefix: str = ""

    def where(self, path: str) -> str:
        """Return "ralph.toml:7 limits.iterations", the line of the nearest table if the key's own was not found."""
        full = f"{self.prefix}{path}"
        if full not in self.lines:  # a table of which only members are written down
            full = next((key for key in self.lines if key.startswith(f"{full}.")), full)
        parts = full.split(".")
        spots = (self.lines.get(".".join(parts[:n])) for n in range(len(parts), 0, -1))
        line = next((spot for spot in spots if spot is not None), None)
        told = f"{self.prefix}{path}"
        return f"{self.name}:{line} {told}" if line else f"{self.name} {told}"


def read_bytes(path: Path, name: str, *, linked: bool = False) -> bytes | None:
    """Return the content of a regular file, None if there is none. linked: it may be a symbolic link to one.

    Raises: UserError for a link, a pipe, a folder, a file over 1 MiB or one that may not be read.
    """
    follow = 0 if linked else os.O_NOFOLLOW
    try:
        fd = os.open(path, os.O_RDONLY | follow | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as e:
        what = "is a symbolic link" if e.errno == errno.ELOOP else f"cannot be read: {e.strerror}"
        raise UserError(f"{name} {what}", where=name, fix="Put a regular file there, or take it away.") from e
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise UserError(f"{name} is not a regular file", where=name, fix="Put a regular file there.")
    with open(fd, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UserError(f"{name} is larger than {MOST_BYTES} bytes", where=name, fix="Make it smaller.")
    return content


def read_toml(path: Path, name: str, *, linked: bool = False) -> Source | None:
    """Return a configuration file, None if there is none. Raises: UserError where it is not TOML."""
    content = read_bytes(path, name, linked=linked)
    if content is None:
        return None
    text, table = parsed(content, name)
    return Source(ConfigFile(path, hashlib.sha256(content).hexdigest()), name, table, key_lines(text))


def read_pyproject(path: Path) -> Source | None:
    """Return the `[tool.ralph]` table of pyproject.toml, None if there is no such table."""
    content = read_bytes(path, path.name)
    if content is None:
        return None
    text, whole = parsed(content, path.name)
    tool = whole.get("tool")
    if not isinstance(tool, dict) or "ralph" not in tool:
        return None
    table = tool["ralph"]
    if not isinstance(table, dict):
        raise UserError("tool.ralph is not a table", where=path.name, fix="Write its keys below a line [tool.ralph].")
    canonical = json.dumps(table, sort_keys=True, default=str).encode()
    file = ConfigFile(path, hashlib.sha256(canonical).hexdigest())
    return Source(file, path.name, table, key_lines(text), TOOL)


def parsed(content: bytes, name: str) -> tuple[str, dict[str, Any]]:
    """Return the text and its TOML; numbers with a point are `Decimal`, so that money stays exact."""
    try:
        text = content.decode()
    except UnicodeDecodeError as e:
        raise UserError(f"{name} is not UTF-8", where=name, fix="Save it as UTF-8.") from e
    try:
        return text, toml(text)
    except tomli.TOMLDecodeError as e:
        line = re.search(r"line ([0-9]+)", str(e))
        where = f"{name}:{line[1]}" if line else name
        raise UserError(f"not TOML: {e}", where=where, fix=_TOML_FIX) from e
    except (RecursionError, ValueError) as e:
        raise UserError(f"{name} is nested too deeply or holds a number too long", where=name, fix=_TOML_FIX) from e


_TOML_FIX = "Text stands in quotes, and a number has no leading zero: https://toml.io shows the rest."


def toml(text: str) -> dict[str, Any]:
    """Parse TOML with exact decimals. Raises: tomli.TOMLDecodeError, RecursionError, ValueError (a huge integer)."""
    return tomli.loads(text, parse_float=Decimal)


def key_lines(text: str) -> dict[str, int]:
    """Return the line of each table header and key by dotted path: a light scan, for messages only."""
    found: dict[str, int] = {}
    table, quote = "", ""
    for number, line in enumerate(text.splitlines(), 1):
        if quote:
            quote = "" if quote in line else quote
            continue
        match = HEADER.match(line) or ASSIGNMENT.match(line)
        if match is None:
            continue
        path = ".".join(part.strip("\"'") for part in PART.findall(match[1]))
        if match.re is HEADER:
            table = f"{path}."
            found.setdefault(path, number)
        else:
            found.setdefault(f"{table}{path}", number)
            quote = next((mark for mark in ('"""', "'''") if line.count(mark) % 2), "")
    return found
