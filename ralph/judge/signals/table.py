"""The table of detectors: what makes one, and from which counts on it acts. A new detector is a file and a row here.

Counts are turns, but for: cycles (blocks), the polling budget (minutes), text loops (messages) and sweeps (reads).
Source of the thresholds: measured on 3,244 real runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ralph.judge.signals.cycle import cycle, fan_out
from ralph.judge.signals.denied import Denied
from ralph.judge.signals.drift import Drift
from ralph.judge.signals.failing import failing, malformed, same_error
from ralph.judge.signals.growing import Growing
from ralph.judge.signals.identical import Identical
from ralph.judge.signals.no_op import NoOp
from ralph.judge.signals.poll_budget import PollBudget
from ralph.judge.signals.stale import Stale
from ralph.judge.signals.streak import Detector
from ralph.judge.signals.sweep import Sweep


@dataclass(frozen=True, slots=True)
class Watcher:
    """One kind of detector. nudge, deny, end: counts, None = never. make: for one stream; None: it reads messages."""

    make: Callable[[], Detector] | None
    nudge: int | None
    deny: int | None = None
    end: int | None = None


DETECTORS: dict[str, Watcher] = {
    "identical": Watcher(Identical, 3, 4, 5),
    "failing": Watcher(failing, 4, 5, 8),
    "same-error": Watcher(same_error, 3, 4, 5),
    "no-op": Watcher(NoOp, 4, 5, 6),
    "drift": Watcher(Drift, 4, 5, 6),
    "cycle": Watcher(cycle, 2, 3, 3),
    "fan-out": Watcher(fan_out, 3, 4, 5),
    "stale": Watcher(Stale, 5, 6, 8),
    "malformed": Watcher(malformed, 3, 4, 5),
    "denied": Watcher(Denied, 2),
    "growing": Watcher(Growing, 4),
    "sweep": Watcher(Sweep, 60),
    "poll-budget": Watcher(PollBudget, 10, None, 30),
    "text-loop": Watcher(None, 1, None, 3),
}
