"""What a stop rule is."""

from __future__ import annotations

from collections.abc import Callable

from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History

Rule = Callable[[History, Settings, Moment], Stop | None]
"""Looks at the run so far and says why it must end, or None. Pure, O(1) in the length of the run."""
