"""What the work tree was at one moment, and the difference between two moments."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tree:
    """One exact look at the work tree.

    id: hex of the exact content (names, modes, link texts, bytes, nested repositories). state: the same
    without test-owned paths; equal to id where there are none. partial: why not everything could be read,
    () if all was; a partial tree never equals another (its ids carry a nonce).
    head: commit id or None (unborn, no repository). branch: short name or None (detached, none).
    """

    id: str
    state: str
    head: str | None = None
    branch: str | None = None
    partial: tuple[str, ...] = ()
    files: int = 0


EDITS_KEPT = 60
LINES_KEPT = 40


@dataclass(frozen=True, slots=True)
class Edit:
    """How one file changed. old, new: what stands for its content before and after, "" where there was or is none.

    added, removed: lines, None where they are hidden (a binary, a file over the cap). plus, minus: 6 hex for each added
    and removed line (`judge.churn.line_key`; short lines left out), of each side the 40 smallest, so that overlaps can
    still be estimated. mode: its mode changed.
    """

    path: str
    old: str = ""
    new: str = ""
    added: int | None = 0
    removed: int | None = 0
    plus: tuple[str, ...] = ()
    minus: tuple[str, ...] = ()
    mode: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between two trees. added, removed: lines, None where a binary or capped file hides them.

    paths: names of changed files, "/"-separated, surrogateescape, sorted; complete. edits: the first 60 of them, line
    by line; () where nobody looked so closely.
    """

    files: int = 0
    added: int | None = 0
    removed: int | None = 0
    paths: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Trees:
    """The three looks of an iteration: before it, after the agent, after the test step."""

    before: Tree
    agent: Tree
    tests: Tree
