"""Tokens and money. Money is integer micro-dollars; unknown is None, never 0."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one call, iteration or run, normalised over agents.

    input: uncached input including cache writes (of which cache_write); cache_read: apart; output: with reasoning.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def counted(self) -> int:
        """Return what `--max-tokens` counts: input including cache writes, plus output."""
        return self.input + self.output

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


class Source(Enum):
    """Where a cost comes from."""

    __hash__ = object.__hash__  # the one of Enum is written in Python, and sets of these are asked all the time

    REPORTED = "reported"
    PRICED = "priced"
    SEEN_LIVE = "seen-live"
    HOLD = "hold"
    FREE = "free"
    """Nothing can have been spent: the program never started."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Charge:
    """What one iteration is charged: micro is None only where nothing is known (source UNKNOWN)."""

    micro: int | None
    source: Source


@dataclass(frozen=True, slots=True)
class Price:
    """Micro-dollars per million tokens of one model; None where the table has no figure."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def of(self, tokens: Tokens) -> int:
        """Return what these tokens cost in micro-dollars, rounded up; a missing cache price counts as input."""
        read = self.cache_read if self.cache_read is not None else self.input
        write = self.cache_write if self.cache_write is not None else self.input
        plain = max(0, tokens.input - tokens.cache_write)
        total = plain * self.input + tokens.output * self.output
        total += tokens.cache_read * read + tokens.cache_write * write
        return -int(-total // MICRO)
