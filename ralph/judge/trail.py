"""The tests over a run: what got better, what broke again, and for how long nothing moved."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from ralph.facts.iteration import Iteration
from ralph.facts.suite import Suite, Verdict
from ralph.judge.suites import change, ids

SETS_KEPT = 8
BREAKS_NAMED = 50
BREAKS_KEPT = 1000
IDS_KEPT = 200_000
RAN = frozenset({Verdict.GREEN, Verdict.RED})


@dataclass(frozen=True, slots=True)
class FailingSet:
    """The failing tests after one iteration. fresh: tests appeared that the run had not seen."""

    number: int
    failing: frozenset[str]
    fresh: bool


@dataclass(frozen=True, slots=True)
class Break:
    """One time a passing test was broken. swapped: another test was repaired in the same iteration."""

    number: int
    swapped: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """What an iteration did to the tests, against the run before it."""

    repaired: frozenset[str]
    broken: frozenset[str]
    fresh: bool


def failing_count(suite: Suite) -> int:
    """Return how many fail; a red suite that names none counts as one."""
    return max(len(suite.failing), 1 if suite.verdict is Verdict.RED else 0)


class SuiteTrail:
    """Folds the suite of the test command, iteration by iteration.

    last: the newest that ran. fewest: the fewest-failing mark. stuck: numbers of the iterations since the last
    progress of the tests. sets: the newest failing sets, with ids only. breaks: by test, newest three.
    """

    def __init__(self, baseline: Suite | None, *, stuck_after: int) -> None:
        self.known: frozenset[str] = frozenset()
        self.last: Suite | None = None
        self.ever_red = False
        self.opened_red: bool | None = None
        self.fewest: int | None = None
        self.stuck: deque[int] = deque(maxlen=max(8, 2 * stuck_after))
        self.sets: deque[FailingSet] = deque(maxlen=SETS_KEPT)
        self.breaks: dict[str, deque[Break]] = {}
        self.all_green = True
        if baseline is not None:
            self._take(baseline)
            self.fewest = failing_count(baseline) if baseline.verdict in RAN else None

    def add(self, iteration: Iteration, *, counts: bool) -> bool:
        """Take the suite of an iteration; return whether the tests got better.

        counts: the step is neither void nor soft. Suites that did not run to a verdict say nothing.
        """
        suite = iteration.tests
        if suite is None or suite.verdict not in RAN:
            return False
        before = self.last
        if before is None:
            self.fewest = failing_count(suite)  # the first of all is the mark, and nothing to compare with
        if not counts or before is None:
            self._take(suite)
            return False
        moved = self._moved(iteration, suite, before=before)
        self._take(suite)
        better = self._beats(iteration, suite) or bool(moved.repaired) or moved.fresh
        self._follow(iteration.number, moved, suite=suite, better=better)
        return better

    def restart(self) -> None:
        """Forget the stretches; the mark and the known tests stay."""
        self.stuck.clear()
        self.sets.clear()
        self.breaks.clear()

    def _take(self, suite: Suite) -> None:
        new = ids(suite) - self.known
        if new and len(self.known) < IDS_KEPT:
            self.known |= new
        if suite.verdict in RAN:
            red = suite.verdict is Verdict.RED
            self.last = suite
            self.ever_red |= red
            self.all_green &= not red
            if self.opened_red is None:
                self.opened_red = red

    def _moved(self, iteration: Iteration, suite: Suite, *, before: Suite) -> Moved:
        now = iteration.change or change(before, suite, self.known)
        return Moved(frozenset(now.newly_passing), suite.failing & before.passing, bool(now.fresh))

    def _beats(self, iteration: Iteration, suite: Suite) -> bool:
        if any(finding.blocks for finding in iteration.findings):
            return False  # fewer failing because tests went away is no progress
        count = failing_count(suite)
        assert self.fewest is not None, "the first suite sets the mark"
        better = count < self.fewest
        self.fewest = min(count, self.fewest)
        return better

    def _follow(self, number: int, moved: Moved, *, suite: Suite, better: bool) -> None:
        if better or suite.verdict is Verdict.GREEN:
            self.stuck.clear()
        if suite.verdict is Verdict.RED and not better:
            self.stuck.append(number)
        if suite.format == "exit":
            return  # no ids: too weak to see a pattern in
        self.sets.append(FailingSet(number, suite.failing, moved.fresh))
        if moved.fresh or any(test not in self.breaks for test in moved.repaired):
            self.breaks.clear()  # something else got better: not a circle
        for test in sorted(moved.broken)[:BREAKS_NAMED]:
            if len(self.breaks) < BREAKS_KEPT:
                self.breaks.setdefault(test, deque(maxlen=3)).append(Break(number, bool(moved.repaired)))
