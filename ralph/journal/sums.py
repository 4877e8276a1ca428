"""The money and the parts of a story that are summed: open holds, outside changes, totals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ralph.facts.iteration import Spent
from ralph.facts.run import Totals
from ralph.facts.usage import Charge, Source
from ralph.journal.codec import Misshapen, from_json


@dataclass(frozen=True, slots=True)
class Held:
    """An iteration that was started and not settled. micro: money held for it, None without a cost limit.

    told: what the agent's end said, as recorded; read only if the iteration is never settled.
    """

    number: int
    micro: int | None
    prompt_hash: str = ""
    at: datetime | None = None
    told: object = None

    @property
    def spent(self) -> Spent | None:
        """Return what is known from the agent's end, None if it did not get so far."""
        try:
            return from_json(Spent, self.told)
        except Misshapen:
            return None

    @property
    def charge(self) -> Charge:
        """Return what it is charged if it is never settled: the larger of the hold and what the agent used."""
        spent = self.spent
        known = [m for m in (self.micro, spent.charge.micro if spent else None) if m is not None]
        return Charge(max(known), Source.HOLD) if known else Charge(None, Source.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Outside:
    """A change that no iteration made. before: the number of the iteration that found it."""

    before: int
    files: int
    paths: tuple[str, ...]


def plus(old: Totals, spent: Spent, *, elapsed_s: float) -> Totals:
    """Return the totals with one iteration more; nothing ever shrinks, an unknown part marks them "at least"."""
    micro, source = spent.charge.micro, spent.charge.source.value
    tokens = None if spent.tokens is None else max(0, spent.tokens.counted)
    return Totals(
        iterations=old.iterations + 1,
        elapsed_s=old.elapsed_s + max(0.0, elapsed_s),
        tokens=old.tokens if tokens is None else (old.tokens or 0) + tokens,
        cost_micro=old.cost_micro if micro is None else (old.cost_micro or 0) + max(0, micro),
        cost_source=source if old.iterations == 0 or source == old.cost_source else "mixed",
        at_least=old.at_least or micro is None,
    )
