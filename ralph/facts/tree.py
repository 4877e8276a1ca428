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


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between two trees. added, removed: lines, None where a binary or capped file hides them.

    paths: names of changed files, "/"-separated, surrogateescape, sorted; complete.
    """

    files: int = 0
    added: int | None = 0
    removed: int | None = 0
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trees:
    """The three looks of an iteration: before it, after the agent, after the test step."""

    before: Tree
    agent: Tree
    tests: Tree
