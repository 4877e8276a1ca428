"""Ends that come from outside the rules, in the order in which they count: damage, signals, an operator's wish."""

from __future__ import annotations

from typing import Literal

from ralph.facts.reason import Reason
from ralph.facts.run import Stop

SIGNALS = {1: Reason.HANGUP, 2: Reason.INTERRUPTED, 15: Reason.TERMINATED}


def interruption(
    *, damage: str | None, signal_number: int | None, wish: Literal["after", "now"] | None, iterations: tuple[int, ...]
) -> Stop | None:
    """Return why the run ends whatever its rules say, None if nothing of the kind happened.

    damage: why the repository is no longer the one the run began in. wish: of `ralph stop [--now]`.
    """
    if damage is not None:
        return Stop(Reason.REPO_DAMAGED, damage, iterations)
    if signal_number is not None:
        return Stop(SIGNALS[signal_number], f"got signal {signal_number}", iterations)
    if wish is not None:
        words = "after the iteration" if wish == "after" else "at once"
        return Stop(Reason.INTERRUPTED, f"stopped {words} by `ralph stop`", iterations)
    return None
