"""All that a run has been so far, folded so that the next iteration costs what the first did (design 3.1)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence, Set

from ralph.facts.iteration import Iteration, Spent
from ralph.facts.outcome import VOID, Outcome
from ralph.facts.run import Best, Opening, Totals
from ralph.facts.settings import CommandGate, Settings
from ralph.facts.suite import Suite, Verdict
from ralph.facts.tree import Tree
from ralph.judge.best import BestFold
from ralph.judge.churn import Churn
from ralph.judge.progress import Stretch
from ralph.judge.relay import Relay
from ralph.judge.seen import SeenStates, digest, failing_digest
from ralph.judge.sideshow import Sideshow
from ralph.judge.step import Kind, Step
from ralph.judge.totals import TotalsFold
from ralph.judge.trail import SuiteTrail

WINDOW = 16
"""Whole iterations kept: with 10,000 tests each holds megabytes, and no rule looks further back."""
SOFT_RESULTS = 8
TESTS_STUCK = 5
VOID_UNLESS_NEW = frozenset({Outcome.TIMED_OUT, Outcome.IDLE, Outcome.LIMIT})
"""Ended by us: a new state ends the stretch, anything else says nothing."""


class History:
    """Folds finished iterations, oldest first. A resumed run folds them again from its journal.

    seen: every state with the iteration that had it first. stretch, trail, side, relay: what the rules read.
    agents: names of those that may work, in order of preference.
    """

    def __init__(self, opening: Opening, settings: Settings, *, agents: Sequence[str] = ()) -> None:
        self.opening = opening
        self.settings = settings
        self.count = 0
        self.seen = SeenStates()
        self.stretch = Stretch(settings.stop)
        stuck = settings.stop.tests_stuck
        self.trail = SuiteTrail(opening.tests, stuck_after=stuck if isinstance(stuck, int) else TESTS_STUCK)
        self.side = Sideshow(settings)
        self.churn = Churn()
        self.relay = Relay(agents)
        self.step: Step | None = None
        self._gates = frozenset(
            name
            for gate in settings.done
            if isinstance(gate, CommandGate)
            for name in (gate.text, f"command {gate.text}")
        )
        self._totals = TotalsFold()
        self._best = BestFold()
        self._window: deque[tuple[Iteration, Step]] = deque(maxlen=WINDOW)
        self._best.add(0, opening.tests)
        self.seen.note(opening.tree, self._failing(opening.baseline), number=0)

    def add(self, iteration: Iteration) -> Step:
        """Take the next finished iteration and return what it meant."""
        self.outside(iteration.trees.before)  # nothing new unless somebody else changed the tree meanwhile
        failing = self._failing(iteration.suites)
        step = self._judge(iteration, failing)
        self.seen.note(iteration.trees.agent, failing, number=iteration.number)
        self.seen.note(iteration.trees.tests, None, number=iteration.number)
        self.count += 1
        self.step = step
        self._window.append((iteration, step))
        self.stretch.add(step)
        better = self.trail.add(iteration, counts=step.kind not in {Kind.VOID, Kind.SOFT})
        self.side.add(iteration, step=step, better=better)
        self.churn.add(iteration, step=step)
        self.relay.add(iteration)
        self._totals.add(iteration)
        self._best.add(iteration.number, iteration.tests, findings=iteration.findings)
        return step

    def cut_off(self, spent: Spent) -> None:
        """Take an iteration that a crash cut off: it is charged and counted, and says nothing else."""
        self.count += 1
        self._totals.add_spent(spent)

    def outside(self, tree: Tree) -> None:
        """Take note of a tree that nobody here made: known from now on, credited to nobody."""
        self.seen.note(tree, None, number=self.count)

    def restart_stretch(self) -> None:
        """Begin all stretches anew (the prompt was reloaded); states, totals and breakers stay."""
        self.stretch.restart()
        self.trail.restart()
        self.side.restart()
        self.churn.restart()

    def resumed(self) -> None:
        """Begin stretches and breakers anew: the user looked at the stop and goes on; limits stay."""
        self.restart_stretch()
        self.relay.resumed()
        self._window.clear()
        self.step = None

    def is_new(self, tree: Tree, suites: Iterable[Suite] = ()) -> bool:
        """Return whether ending in this state would be news; without suites the tree alone decides."""
        return self.seen.first(tree, self._failing(suites)) is None

    def tail(self, outcomes: Set[Outcome], *, no_news: bool = False) -> tuple[Iteration, ...]:
        """Return the newest unbroken row of iterations with these outcomes, oldest first, within the window.

        Quota waits are looked through, unless asked for, and so is what other agents did than that of the newest.
        no_news: a new state breaks the row as well.
        """
        row: list[Iteration] = []
        for iteration, step in reversed(self._window):
            if iteration.agent != self._window[-1][0].agent:
                continue
            if iteration.outcome is Outcome.QUOTA and Outcome.QUOTA not in outcomes:
                continue
            if iteration.outcome not in outcomes or (no_news and not step.known):
                break
            row.append(iteration)
        return tuple(reversed(row))

    @property
    def newest(self) -> Iteration | None:
        """Return the last iteration, None before the first and right after a resume."""
        return self._window[-1][0] if self._window else None

    @property
    def iterations(self) -> tuple[Iteration, ...]:
        """Return the newest iterations (at most `WINDOW`), oldest first; `count` has them all."""
        return tuple(iteration for iteration, _ in self._window)

    @property
    def totals(self) -> Totals:
        """Return the sums over the whole run."""
        return self._totals.totals

    @property
    def dearest(self) -> int | None:
        """Return the highest charge of one iteration in micro-dollars, None where none is known."""
        return self._totals.dearest

    @property
    def cost_was_told(self) -> bool:
        """Return whether any iteration so far had a cost that somebody told or that could be priced."""
        return self._totals.priced

    @property
    def best(self) -> Best | None:
        """Return the best iteration so far, None where no suite ran."""
        return self._best.best

    @property
    def tests_last(self) -> Suite | None:
        """Return the newest suite of the test command that ran to a verdict, the baseline included."""
        return self.trail.last

    @property
    def ever_red(self) -> bool:
        """Return whether the tests were red at any time, the baseline included."""
        return self.trail.ever_red

    @property
    def known_tests(self) -> frozenset[str]:
        """Return all test ids this run has met (the first 200,000)."""
        return self.trail.known

    @property
    def baseline_green(self) -> bool:
        """Return whether the tests were green before iteration 1."""
        return self.opening.tests is not None and self.opening.tests.verdict is Verdict.GREEN

    @property
    def rested(self) -> tuple[int, ...]:
        """Return the newest iterations in a row that left the tree as it was, void ones aside, oldest first."""
        row: list[int] = []
        for _, step in reversed(self._window):
            if step.moved:
                break
            if step.kind is not Kind.VOID:
                row.append(step.number)
        return tuple(reversed(row))

    @property
    def green_is_goal(self) -> bool:
        """Return whether getting the tests green is what the run is for: the only gate, and red at the start."""
        return bool(self.settings.test.command) and not self.settings.done and bool(self.trail.opened_red)

    def _failing(self, suites: Iterable[Suite]) -> bytes | None:
        return failing_digest(suite for suite in suites if suite.name not in self._gates)

    def _judge(self, iteration: Iteration, failing: bytes | None) -> Step:
        trees = iteration.trees
        first = self.seen.first(trees.agent, failing)
        moved = bool(trees.agent.partial) or trees.agent.state != trees.before.state
        undone = not trees.tests.partial and trees.tests.state != trees.agent.state
        place = self.seen.place(trees.agent.state)
        return Step(
            number=iteration.number,
            kind=_kind(iteration, moved=moved, known=first is not None),
            state=trees.agent.state[:12] + (f"/{failing.hex()[:6]}" if failing else ""),
            key=place + (failing or b""),
            places=frozenset({place, digest(trees.tests.state)} if undone else {place}),
            known=first is not None,
            first=first,
            moved=moved,
            undone=undone,
        )


def _kind(iteration: Iteration, *, moved: bool, known: bool) -> Kind:
    outcome = iteration.outcome
    if outcome in VOID or (known and outcome in VOID_UNLESS_NEW):
        return Kind.VOID
    if known and _is_soft(iteration):
        return Kind.SOFT
    if not moved:
        return Kind.IDLE
    return Kind.RETURN if known else Kind.NEW


def _is_soft(iteration: Iteration) -> bool:
    if iteration.outcome is Outcome.COMPLETED and iteration.new_results >= SOFT_RESULTS:
        return True
    return any(suite.verdict is Verdict.FLAKY and not suite.reused for suite in iteration.suites)
