"""Find the program to start: absolute, there, and not the agent's to replace (E15, R019)."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is no such program, as one fragment that names the places looked in."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def find_program(name: str, *, path: str, cwd: Path, outside: Path | None) -> Path | Missing:
    """Return the absolute path of an executable, links in it left alone: many programs act by the name they go by.

    name: looked up in path (as in $PATH) unless it holds a slash, then taken from cwd. outside: the work tree; nothing
    inside it is taken, by whatever link it is reached. None: anywhere. Relative entries of path are skipped: what they
    name depends on the directory, and in ours the agent writes.
    """
    if "/" in name:
        reason = _unfit(Path(cwd, name), outside)
        return Missing(f'"{name}" {reason}') if reason else Path(cwd, name).absolute()
    entries = [entry for entry in path.split(os.pathsep) if entry.startswith("/")]
    reasons = []
    for entry in entries:
        candidate = Path(entry, name)
        reason = _unfit(candidate, outside)
        if not reason:
            return candidate
        if reason != _NOT_THERE:
            reasons.append(f"{candidate} {reason}")
    passed_over = "; ".join(reasons)
    return Missing(f'"{name}" not found on PATH' + (f" ({passed_over})" if reasons else "") + f"; searched {path!r}")


_NOT_THERE = "does not exist"


def _unfit(candidate: Path, outside: Path | None) -> str:
    """Return why this file cannot be started, "" if it can."""
    try:
        real = candidate.resolve(strict=True)
        mode = real.stat().st_mode
    except (OSError, RuntimeError):
        return _NOT_THERE
    if outside is not None and real.is_relative_to(outside.resolve()):
        return f"lies inside the work tree {outside}, where the agent could replace it"
    if outside is not None and Path(os.path.normpath(candidate)).is_relative_to(outside):
        return f"is reached through the work tree {outside}, where the agent could replace it"
    if not stat.S_ISREG(mode):
        return "is not a file"
    return "" if os.access(real, os.X_OK) else "is not executable"
