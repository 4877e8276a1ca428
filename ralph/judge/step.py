"""What one finished iteration meant for the run: its step, the unit that every stretch is made of (design 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The class of a step."""

    __hash__ = object.__hash__  # the one of Enum is written in Python, and sets of these are asked all the time

    IDLE = "idle"
    """Moved nothing."""
    RETURN = "return"
    """Moved the tree and ended in a state this run had before."""
    NEW = "new"
    """Ended in a state this run never had."""
    SOFT = "soft"
    """Known state, but much was read, or only a flaky suite spoke: neither lengthens nor ends a stretch."""
    VOID = "void"
    """Says nothing about the agent's work: not counted at all."""


@dataclass(frozen=True, slots=True)
class Step:
    """One iteration as the stretches see it.

    state: the agent tree and the failing set, short, for people. key: the same, exact. places: exact keys of the
    trees it left behind: the agent's, and the test step's where that differs. known: the run had this state before.
    first: the iteration that had it first (0 = the start), None where it is new. moved: the agent changed the tree.
    undone: the test step took the tree away from where the agent had put it.
    """

    number: int
    kind: Kind
    state: str
    key: bytes
    places: frozenset[bytes]
    known: bool
    first: int | None
    moved: bool
    undone: bool = False
