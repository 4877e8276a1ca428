"""The best point of a run: fewest failing, then most passing, then latest; never one that tampered with tests."""

from __future__ import annotations

from collections.abc import Iterable

from ralph.facts.finding import Finding
from ralph.facts.run import Best
from ralph.facts.suite import Suite
from ralph.judge.trail import RAN, failing_count


class BestFold:
    """Keeps the best so far. best: None until a suite has run."""

    def __init__(self) -> None:
        self.best: Best | None = None
        self._rank: tuple[int, int] | None = None

    def add(self, number: int, suite: Suite | None, *, findings: Iterable[Finding] = ()) -> None:
        """Take an iteration (0 = the start). Findings that block `done` are those about tests and protected files."""
        if suite is None or suite.verdict not in RAN or any(finding.blocks for finding in findings):
            return
        failing, passing = failing_count(suite), len(suite.passing)
        rank = (-failing, passing)
        if self._rank is None or rank >= self._rank:
            self._rank = rank
            self.best = Best(number, _words(suite, failing=failing, passing=passing))


def _words(suite: Suite, *, failing: int, passing: int) -> str:
    if suite.format == "exit":
        return suite.verdict.value
    return f"{failing} failing, {passing} passing"
