"""Ends that come from outside the rules, in the order in which they count: damage, signals, an operator's wish."""

from __future__ import annotations

from typing import Literal

from ralph.facts.reason import Reason
from ralph.facts.run import Stop

Wish = Literal["after", "now"]
"""What `ralph stop` asks for: the end after this iteration, or at once."""
SIGNALS = {1: Reason.HANGUP, 2: Reason.INTERRUPTED, 15: Reason.TERMINATED}


def interruption(
    *, damage: str | None, signal_number: int | None, wish: Wish | None, iterations: tuple[int, ...]
) -> Stop | None:
    """Return why the run ends whatever its rules say, None if nothing of the kind happened.

    damage: why the repository is no longer the one the run began in. wish: only "now" is one that comes first.
    """
    if damage is not None:
        return Stop(Reason.REPO_DAMAGED, damage, iterations)
    if signal_number is not None:
        return Stop(SIGNALS[signal_number], f"got signal {signal_number}", iterations)
    if wish == "now":
        return Stop(Reason.INTERRUPTED, "stopped at once by `ralph stop --now`", iterations)
    return None


def wished(wish: Wish | None, *, iterations: tuple[int, ...]) -> Stop | None:
    """Return the end that `ralph stop` asked for once the iteration was over; any rule that ends the run goes first."""
    if wish is None:
        return None
    return Stop(Reason.INTERRUPTED, "stopped after the iteration by `ralph stop`", iterations)
