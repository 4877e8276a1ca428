"""What a model costs, for agents that report tokens but no dollars; never from the network.

The table comes with genai-prices. It is read by `table` in a short-lived child, because it is 10 MB in memory and
one figure is wanted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ralph.facts.usage import MICRO, Price

TABLE = Path(__file__).with_name("table.py")
PATIENCE_S = 30.0
STALE_DAYS = 180


@dataclass(frozen=True, slots=True)
class Lookup:
    """What the table says. price: None where it has no such model. age_days: at least so old, None if unknown."""

    price: Price | None = None
    age_days: int | None = None

    @property
    def warning(self) -> str:
        """Return a line about the age of the table, "" if it is young enough."""
        if self.price is None or self.age_days is None or self.age_days < STALE_DAYS:
            return ""
        return f"the price table is at least {self.age_days} days old: pip install --upgrade genai-prices"


def price_of(model: str | None) -> Price | None:
    """Return the list price of a model by the name an agent gives it, None where it is unknown."""
    return lookup(model).price


def lookup(model: str | None) -> Lookup:
    """Return price and age of the table; takes some 0.3 s, so call it once a model.

    Long contexts that cost more than the base rate are priced at the base rate. Never raises for what the table
    or the child does: then nothing is known.
    """
    if not model or len(model) > 256 or not model.isprintable():
        return Lookup()
    # Isolated like -I, but for the user's own site-packages, where `pip install --user` puts the table.
    argv = [sys.executable, "-E", "-P", str(TABLE), model]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, cwd="/", timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return Lookup()
    return _read(done.stdout)


def _read(output: bytes) -> Lookup:
    try:
        told = json.loads(output)
    except ValueError:
        return Lookup()
    if not isinstance(told, dict):
        return Lookup()
    figures = {name: _micro(told.get(name)) for name in ("input", "output", "cache_read", "cache_write")}
    plain, out, age = figures["input"], figures["output"], told.get("age_days")
    price = None
    if plain is not None and out is not None:
        price = Price(plain, out, figures["cache_read"], figures["cache_write"])
    return Lookup(price, age if isinstance(age, int) else None)


def _micro(dollars: object) -> float | None:
    """Return dollars per million tokens in micro-dollars."""
    return dollars * MICRO if isinstance(dollars, int | float) and 0 <= dollars < 1e6 else None
