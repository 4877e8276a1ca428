"""Sums over a run. What is unknown stays unknown: a sum with a hole in it says "at least"."""

from __future__ import annotations

from ralph.facts.iteration import Iteration, Spent
from ralph.facts.run import Totals
from ralph.facts.usage import Source

LOWER_BOUNDS = frozenset({Source.UNKNOWN, Source.SEEN_LIVE})
"""A killed agent was seen spending so much; what it spent after that nobody told."""


class TotalsFold:
    """Adds iterations up, each once; killed and failed ones count."""

    def __init__(self) -> None:
        self._iterations = 0
        self._elapsed_s = 0.0
        self._tokens: int | None = None
        self._cost: int | None = None
        self._sources: set[Source] = set()
        self._tokens_missing = False
        self.dearest: int | None = None
        self.priced = False

    def add(self, iteration: Iteration) -> None:
        """Take one iteration."""
        self._elapsed_s += iteration.elapsed_s
        self.add_spent(iteration.spent)

    def add_spent(self, spent: Spent) -> None:
        """Take what one iteration used, all that is known of one that a crash cut off."""
        charge, tokens = spent.charge, spent.tokens
        self._iterations += 1
        if charge.micro is not None:
            self._cost = (self._cost or 0) + max(0, charge.micro)
            self.dearest = max(self.dearest or 0, charge.micro)
        if charge.source in {Source.REPORTED, Source.PRICED, Source.SEEN_LIVE}:
            self.priced = True
        if charge.source is not Source.FREE:
            self._sources.add(charge.source)
            self._tokens_missing |= tokens is None
        if tokens is not None:
            self._tokens = (self._tokens or 0) + max(0, tokens.counted)

    @property
    def totals(self) -> Totals:
        """Return the sums so far."""
        return Totals(
            iterations=self._iterations,
            elapsed_s=self._elapsed_s,
            tokens=self._tokens,
            cost_micro=self._cost,
            cost_source=self._source(),
            at_least=not LOWER_BOUNDS.isdisjoint(self._sources),
            tokens_at_least=self._tokens_missing,
        )

    def _source(self) -> str:
        known = sorted(source.value for source in self._sources if source is not Source.UNKNOWN)
        if not known:
            return Source.UNKNOWN.value if self._cost is None else Source.FREE.value
        return known[0] if len(known) == 1 else "mixed"
