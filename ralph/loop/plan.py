"""What is fixed of an iteration before its agent starts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ralph.facts.tree import Tree
from ralph.judge.budget import Hold


@dataclass(frozen=True, slots=True)
class Plan:
    """What is fixed before the agent starts. began_s: reading of `Clock.awake`. promise: the done token, if any."""

    started_at: datetime
    began_s: float
    before: Tree
    outside: bool
    held: Hold
    promise: str | None
    sent: bytes
