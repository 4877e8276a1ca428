"""What is left out of the tree: patterns in the language of gitignore(5), and the excludes frozen at the start."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ralph.repo.git import Git

BUILT_IN = (
    "node_modules/",
    ".venv/",
    "venv/",
    "__pycache__/",
    ".tox/",
    ".nox/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".gradle/",
)
"""Left out, and said so, where there is no repository whose .gitignore could know better."""

EXCLUDES_CAP = 1 << 20


class Patterns:
    """Leaves out by name, tracked or not; the last pattern that matches decides, as in gitignore(5)."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._rules = [rule for line in lines if (rule := _rule(os.fsencode(line)))]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def match(self, path: bytes) -> bool:
        """Return whether a path is left out: it or a directory above it. A directory ends in "/"."""
        out = False
        for expression, leaves_out in self._rules:
            if out is not leaves_out and expression.search(path):
                out = leaves_out
        return out


@dataclass(frozen=True, slots=True)
class Excludes:
    """The frozen rules of a run. patterns: always left out. everywhere: exclude lines for each repository.

    own: lines for the top only (its info/exclude), in the order in which git would apply them.
    """

    patterns: Patterns
    everywhere: bytes
    own: bytes

    @classmethod
    def frozen(cls, git: Git, ours: Path, *, common_dir: Path | None, lines: tuple[str, ...]) -> Excludes:
        """Read the user's excludes now. ours: any git directory of ours. lines: outrank all other rules."""
        from_user = users_excludes(git, ours)
        typed = b"".join(os.fsencode(line) + b"\n" for line in lines)
        floating = b"".join(os.fsencode(line) + b"\n" for line in lines if "/" not in line.rstrip("/"))
        info = capped(common_dir / "info" / "exclude") if common_dir else b""
        return cls(Patterns(lines), from_user + floating, from_user + info + b"\n" + typed)


def users_excludes(git: Git, ours: Path) -> bytes:
    """Return the bytes of the user's global excludes file: `core.excludesFile`, else git's default place."""
    home = Path(os.environ.get("HOME") or "/nonexistent")
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    named = settings / "ignore"
    for file in (settings / "config", home / ".gitconfig"):
        if capped(file):
            told = git.run(["config", "--list", "-z", "--includes", "--file", str(file)], git_dir=ours)
            for value in re.findall(rb"(?:\A|\0)core\.excludesfile\n([^\0]*)", told.out):
                named = Path(
                    os.fsdecode(value).replace("~", str(home), 1) if value[:2] == b"~/" else os.fsdecode(value)
                )
    return capped(named) + b"\n"


def capped(path: Path) -> bytes:
    """Return the first `EXCLUDES_CAP` bytes of a regular file, b"" for anything else; never hangs on a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, EXCLUDES_CAP)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _rule(line: bytes) -> tuple[re.Pattern[bytes], bool] | None:
    leaves_out = not line.startswith(b"!")
    body = line.removeprefix(b"!").rstrip(b" ")
    if not body or body.startswith(b"#"):
        return None
    folder = body.endswith(b"/")
    body = body.rstrip(b"/")
    start = rb"\A" if b"/" in body else rb"(?:\A|/)"
    end = rb"/" if folder else rb"(?:/|\Z)"
    body = body.lstrip(b"/")
    try:
        return re.compile(start + _translated(body) + end, re.DOTALL), leaves_out
    except re.error:  # a set like [z-a]: git matches nothing with it, the name as typed is the kinder reading
        return re.compile(start + re.escape(body) + end, re.DOTALL), leaves_out


def _translated(glob: bytes) -> bytes:
    out, at = [], 0
    while at < len(glob):
        for token, regex in ((b"**/", rb"(?:.*/)?"), (b"**", rb".*"), (b"*", rb"[^/]*"), (b"?", rb"[^/]")):
            if glob.startswith(token, at):
                out.append(regex)
                at += len(token)
                break
        else:
            taken, regex = _set_or_byte(glob, at)
            out.append(regex)
            at += taken
    return b"".join(out)


def _set_or_byte(glob: bytes, at: int) -> tuple[int, bytes]:
    """Return how many bytes of the glob were taken and the expression for them."""
    if glob[at : at + 1] == b"\\" and at + 1 < len(glob):
        return 2, re.escape(glob[at + 1 : at + 2])
    found = re.compile(rb"\[([!^]?)(\]?[^]]*)\]").match(glob, at)
    if not found:
        return 1, re.escape(glob[at : at + 1])
    members = found[2].replace(b"\\", rb"\\").replace(b"[", rb"\[").replace(b"]", rb"\]")
    return len(found[0]), b"[%s%s]" % (b"^/" if found[1] else b"", members)
