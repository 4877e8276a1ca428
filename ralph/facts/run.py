"""The values around a whole run: how it opened, what it rests on, how it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ralph.facts.finding import Finding
from ralph.facts.reason import Reason
from ralph.facts.suite import Suite
from ralph.facts.tree import Tree


@dataclass(frozen=True, slots=True)
class Opening:
    """Where a run starts. baseline: suites run before iteration 1 (tests, then checks), () if none.

    boxes: unticked and ticked boxes of each checklist gate's file at the start, by path.
    """

    run: str
    started_at: datetime
    tree: Tree
    baseline: tuple[Suite, ...] = ()
    boxes: tuple[tuple[str, int, int], ...] = ()

    @property
    def tests(self) -> Suite | None:
        """Return the baseline of the test command, None if it was not run."""
        return next((s for s in self.baseline if s.name == "tests"), None)


@dataclass(frozen=True, slots=True)
class Moment:
    """Now, as the rules may know it.

    up_s: real seconds (boot-time clock) the run has lasted, earlier sessions included.
    left_s: real seconds to the deadline of `limits.time` or `limits.until`, None without one.
    """

    up_s: float
    left_s: float | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The decision to end a run. detail: one line. iterations: the evidence, by number. states: ids, named.

    tests: ids that carry the evidence. verified: for `done`: ralph checked it itself.
    """

    reason: Reason
    detail: str
    iterations: tuple[int, ...] = ()
    states: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    verified: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait before the next start. seconds: real time; why: one line; until: the reset time waited for, if any."""

    seconds: float
    why: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Best:
    """The best iteration so far: its number (0 = the start) and why."""

    number: int
    detail: str


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a run. cost_micro: known part, None if nothing is known; at_least: a part of the cost is unknown.

    tokens: known part as `--max-tokens` counts it, None if nothing is known; tokens_at_least: a part is unknown.
    """

    iterations: int = 0
    elapsed_s: float = 0.0
    tokens: int | None = None
    cost_micro: int | None = None
    cost_source: str = "unknown"
    at_least: bool = False
    tokens_at_least: bool = False


@dataclass(frozen=True, slots=True)
class Conclusion:
    """All that the verdict block, the summary and the report say of a stopped run."""

    run: str
    stop: Stop
    totals: Totals
    best: Best | None = None
    findings: tuple[Finding, ...] = ()
    overshoot: str = ""
    next_commands: tuple[str, ...] = ()
