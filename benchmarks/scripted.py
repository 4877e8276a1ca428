"""Scripted runs for the rules between iterations: ways in which work goes nowhere, and healthy work that looks like it.

A run is written as what each iteration leaves in the files; trees, changed lines and returns follow from that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from random import Random

from ralph.facts.finding import Finding
from ralph.facts.iteration import GateResult, Iteration
from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Opening, Stop
from ralph.facts.settings import ChecklistGate, Limits, Settings, Test
from ralph.facts.suite import Suite, Verdict
from ralph.facts.tree import Changes, Edit, Tree, Trees
from ralph.judge.churn import line_keys
from ralph.judge.history import History
from ralph.judge.stops import RULES
from ralph.judge.stops.rule import Rule

START = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = Settings(limits=Limits(iterations=None, time=None))
GOAL = Settings(limits=Limits(iterations=None, time=None), test=Test(command=("pytest",)))
PLAN = Settings(limits=GOAL.limits, test=GOAL.test, done=(ChecklistGate("PLAN.md"),))
TESTS = frozenset("abcdefgh")

Files = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Did:
    """One iteration. files: whole content by path, "" = deleted; the rest stays. failing: None = no suite ran."""

    files: Files = field(default_factory=dict)
    failing: str | None = None
    verdict: Verdict | None = None
    outcome: Outcome = Outcome.COMPLETED
    read: int = 0
    claimed: bool = False
    finding: str = ""
    modes: tuple[str, ...] = ()
    branch: str = "main"


Script = Callable[[Random], Iterator[Did]]


@dataclass(frozen=True, slots=True)
class Stuck:
    """A way to be stuck. count: iterations after which the rule is to fire. reasons: as which endings that counts."""

    script: Script
    count: int
    reasons: tuple[Reason, ...]
    settings: Settings = PLAIN


@dataclass(frozen=True, slots=True)
class Healthy:
    """Healthy work."""

    script: Script
    settings: Settings = PLAIN


def prose(rng: Random, lines: int = 6) -> str:
    """Return lines nobody wrote before."""
    return "".join(f"{rng.getrandbits(64):016x} = {rng.getrandbits(32)}\n" for _ in range(lines))


def growth(rng: Random, count: int, failing: str | None = None) -> Iterator[Did]:
    """Yield healthy iterations: each adds a file of its own and changes a common one."""
    for _ in range(count):
        yield Did({f"src/{rng.getrandbits(40):010x}.py": prose(rng), "src/common.py": prose(rng, 9)}, failing)


def played(script: Iterator[Did], settings: Settings, *, rules: Sequence[Rule] = RULES) -> tuple[int, Stop | None]:
    """Return the number of the last iteration and why the run was stopped, None where it never was."""
    first = next(script)
    state = World()
    state.take(first)
    opening = Opening("run", START, state.tree(), (state.suite(first),) if first.failing is not None else ())
    history, number = History(opening, settings), 0
    for number, did in enumerate(script, 1):
        history.add(state.iteration(number, did, settings))
        found = (rule(history, settings, Moment(0.0)) for rule in rules)
        if (stop := next(filter(None, found), None)) is not None:
            return number, stop
    return number, None


class World:
    """The files of a scripted run."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._modes: Counter[str] = Counter()
        self._branch = "main"

    def take(self, did: Did) -> None:
        """Leave what an iteration leaves."""
        self._files.update(did.files)
        self._files = {path: text for path, text in self._files.items() if text}
        self._modes.update(did.modes)
        self._branch = did.branch

    def tree(self) -> Tree:
        """Return the tree as it is now."""
        content = repr((sorted(self._files.items()), sorted((p, n % 2) for p, n in self._modes.items() if n % 2)))
        state = sha256(content.encode()).hexdigest()[:12]
        return Tree(state, state, branch=self._branch)

    def suite(self, did: Did) -> Suite:
        """Return what the tests say."""
        failing = frozenset(did.failing or "")
        verdict = did.verdict or (Verdict.RED if failing else Verdict.GREEN)
        ran = verdict in (Verdict.RED, Verdict.GREEN, Verdict.FLAKY)
        return Suite("tests", verdict, TESTS - failing if ran else frozenset(), failing, format="junit")

    def iteration(self, number: int, did: Did, settings: Settings) -> Iteration:
        """Return the iteration that does this."""
        before, files = self.tree(), dict(self._files)
        self.take(did)
        here = self.tree()
        suites: tuple[Suite, ...] = (self.suite(did),) if did.failing is not None else ()
        green = bool(suites) and suites[0].verdict is Verdict.GREEN
        gates = (GateResult("tests", green),) if settings.test.command else ()
        return Iteration(
            number,
            START,
            Trees(before, here, here),
            did.outcome,
            changes=changed(files, self._files, modes=did.modes),
            suites=suites,
            new_results=did.read,
            claimed=did.claimed,
            gates=gates,
            findings=(Finding(did.finding, did.finding, ("test_a",), blocks=True),) if did.finding else (),
        )


def changed(before: Files, after: Files, *, modes: tuple[str, ...] = ()) -> Changes:
    """Return the changes between two sets of files, line by line."""
    paths = sorted({path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} | {*modes})
    edits = tuple(_edit(path, before.get(path, ""), after.get(path, ""), mode=path in modes) for path in paths)
    added, removed = sum(edit.added or 0 for edit in edits), sum(edit.removed or 0 for edit in edits)
    return Changes(len(paths), added, removed, tuple(paths), edits)


def _edit(path: str, old: str, new: str, *, mode: bool) -> Edit:
    was, now = Counter(old.splitlines(keepends=True)), Counter(new.splitlines(keepends=True))
    plus, minus = list((now - was).elements()), list((was - now).elements())
    if not plus and not minus and old != new:  # another order: a diff shows some lines twice
        plus = minus = old.splitlines()[:3]
    return Edit(path, _blob(old), _blob(new), len(plus), len(minus), line_keys(plus), line_keys(minus), mode)


def _blob(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12] if text else ""
