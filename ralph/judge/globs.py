"""Gitignore-style patterns over paths of the work tree: `tree.protect`, `test.allow_changes`."""

from __future__ import annotations

import re
from collections.abc import Iterable


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Return whether the last pattern that matches says yes; "!" in front says no.

    path: "/"-separated, relative to the top. A pattern with a slash that is not its last character starts at the top;
    one that names a folder takes all below it. Source: https://git-scm.com/docs/gitignore
    """
    found = False
    for pattern in patterns:
        wanted = not pattern.startswith("!")
        if found is not wanted and _regex(pattern.removeprefix("!")).fullmatch(path):
            found = wanted
    return found


def _regex(pattern: str) -> re.Pattern[str]:
    body = pattern.strip().removeprefix("\\")
    folder = body.endswith("/")
    body = body.rstrip("/")
    anchored = "/" in body
    front = "" if anchored else "(?:.*/)?"
    below = "/.*" if folder else "(?:/.*)?"
    return re.compile(front + "".join(_pieces(body.removeprefix("/"))) + below, re.DOTALL)


_PIECE = re.compile(r"\*\*/|/\*\*$|\*+|\?|\[[!^]?\]?[^\]/]*\]|.", re.DOTALL)


def _pieces(body: str) -> Iterable[str]:
    for match in _PIECE.finditer(body):
        piece = match[0]
        if piece == "**/":
            yield "(?:.*/)?"
        elif piece == "/**":
            yield "/.*"
        elif piece.startswith("*"):
            yield "[^/]*"
        elif piece == "?":
            yield "[^/]"
        elif piece.startswith("[") and len(piece) > 2:
            yield _set(piece)
        else:
            yield re.escape(piece)


def _set(piece: str) -> str:
    inner = piece[1:-1]
    negated = inner[:1] in ("!", "^")
    inner = re.sub(r"([\\\[\]&~|^])", r"\\\1", inner[1:] if negated else inner)
    text = f"(?!/)[{'^' if negated else ''}{inner}]"
    try:
        re.compile(text)
    except re.error:
        return re.escape(piece)
    return text
