"""What iterations do to each other's lines: taken back, put back, swept to and fro, though each state is a new one.

Exact returns are the business of `judge/seen.py`. Here it is told by lines and by the content of single files.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from ralph.facts.iteration import Iteration
from ralph.facts.suite import Verdict
from ralph.facts.tree import LINES_KEPT, Edit
from ralph.judge.step import Kind, Step

WINDOW = 6
FLIPS_WITHIN = 8
FILES_KEPT = 400
SHORTEST = 4
LEAST_LINES = 3
OVERLAP = 0.8
GROSS = 40
TO_AND_FRO = 0.1

STAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\b\d{1,2}:\d\d:\d\d\b|\b\d{10,13}\b"
)
"""Dates and times. Versions stay: to raise one is work."""
PROSE = (".md", ".rst", ".txt", ".adoc", ".lock", ".sum", ".log", "-lock.json", "-lock.yaml")

Line = tuple[str, str]
"""(path, key of the line)."""


def line_key(line: str) -> str | None:
    """Return 6 hex for a line without blanks at its ends, dates and times; None for one too short to tell."""
    text = STAMP.sub("<stamp>", line.strip())
    if len(text) < SHORTEST:
        return None
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]


def line_keys(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the keys of lines as an `Edit` keeps them: the 40 smallest, sorted."""
    return tuple(sorted(key for line in lines if (key := line_key(line)) is not None)[:LINES_KEPT])


def is_noise(edit: Edit) -> bool:
    """Return whether a file says after the change what it said before: mode, line ends, order, stamps."""
    if edit.old == edit.new:
        return edit.mode
    if not edit.old or not edit.new or edit.added is None or edit.added != edit.removed:
        return False
    return edit.plus == edit.minus and (bool(edit.plus) or edit.added == 0)


@dataclass(frozen=True, slots=True)
class Passed:
    """One iteration that moved the tree. plus, minus: its lines, moved ones cancelled. gross: lines in all."""

    number: int
    plus: frozenset[Line]
    minus: frozenset[Line]
    counts: Mapping[Line, int]
    gross: int
    failing: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Reverse:
    """An iteration that took back what the ones before it had done. failing: the failing tests after it, if known."""

    number: int
    overlap: float
    paths: tuple[str, ...]
    failing: frozenset[str] | None


class Churn:
    """Folds iterations that moved the tree.

    passed: the newest of them. reverses: those that took back earlier lines. flips: by file, the iterations in which
    it returned to an earlier content, newest eight moves.
    """

    def __init__(self) -> None:
        self.passed: deque[Passed] = deque(maxlen=WINDOW)
        self.reverses: deque[Reverse] = deque(maxlen=WINDOW)
        self.flips: dict[str, deque[int]] = {}
        self.moves = 0
        self._blobs: dict[str, deque[tuple[int, str]]] = {}
        self._branch: str | None = None
        self._failing: frozenset[str] | None = None

    def add(self, iteration: Iteration, *, step: Step) -> None:
        """Take the next iteration; void ones and those that moved nothing say nothing here."""
        suite = iteration.tests
        if suite is not None and suite.verdict in (Verdict.GREEN, Verdict.RED):
            self._failing = suite.failing
        branch = iteration.trees.agent.branch
        if branch != self._branch:
            self.restart()  # other lines by going elsewhere are nobody's churn
            self._branch = branch
        if step.kind is Kind.VOID or not step.moved or not iteration.changes.edits:
            return
        self.moves += 1
        self._follow(iteration.number, iteration.changes.edits)
        self._take(self._pass(iteration))

    def restart(self) -> None:
        """Forget all windows."""
        self.passed.clear()
        self.reverses.clear()
        self.flips.clear()
        self._blobs.clear()

    @property
    def net(self) -> float | None:
        """Return which share of the lines of the newest six moves is still there, None where it is too few to tell."""
        gross = sum(one.gross for one in self.passed)
        if len(self.passed) < WINDOW or gross < GROSS:
            return None
        total: Counter[Line] = Counter()
        told = 0
        for one in self.passed:
            told += sum(abs(count) for count in one.counts.values())
            total.update(one.counts)
        return sum(abs(count) for count in total.values()) / told if told else None

    @property
    def failing_stayed(self) -> bool:
        """Return whether the same tests, and some, failed after each of the newest moves."""
        sets = {one.failing for one in self.passed}
        return len(sets) == 1 and bool(next(iter(sets)))

    def _pass(self, iteration: Iteration) -> Passed:
        edits = iteration.changes.edits
        counts: Counter[Line] = Counter()
        sides: Counter[str] = Counter()
        for edit in edits:
            sides.update(edit.plus)
            sides.subtract(edit.minus)
            counts.update((edit.path, key) for key in edit.plus)
            counts.subtract((edit.path, key) for key in edit.minus)
        # A line that only went elsewhere was neither added nor removed.
        counts = Counter({line: n for line, n in counts.items() if n and sides[line[1]]})
        gross = sum((edit.added or 0) + (edit.removed or 0) for edit in edits)
        plus = frozenset(line for line, count in counts.items() if count > 0)
        minus = frozenset(line for line, count in counts.items() if count < 0)
        return Passed(iteration.number, plus, minus, counts, gross, self._failing)

    def _take(self, now: Passed) -> None:
        overlap = self._overlap(now)
        if overlap >= OVERLAP:
            paths = tuple(sorted({path for path, _ in now.plus | now.minus})[:20])
            self.reverses.append(Reverse(now.number, overlap, paths, now.failing))
        self.passed.append(now)

    def _overlap(self, now: Passed) -> float:
        """Return the smaller of two shares: of added lines once removed, of removed lines once added."""
        if not now.plus or not now.minus or len(now.plus) + len(now.minus) < LEAST_LINES or not self.passed:
            return 0.0
        put = frozenset[Line]().union(*(one.plus for one in self.passed))
        taken = frozenset[Line]().union(*(one.minus for one in self.passed))
        return min(len(now.plus & taken) / len(now.plus), len(now.minus & put) / len(now.minus))

    def _follow(self, number: int, edits: Iterable[Edit]) -> None:
        for edit in edits:
            if edit.path.lower().endswith(PROSE) or edit.old == edit.new:
                continue
            blobs = self._blobs.pop(edit.path, None) or deque([(self.moves, edit.old)], maxlen=FLIPS_WITHIN)
            self._blobs[edit.path] = blobs  # the newest last
            flips = self.flips.setdefault(edit.path, deque(maxlen=FLIPS_WITHIN))
            if any(blob == edit.new for move, blob in blobs if self.moves - move < FLIPS_WITHIN):
                flips.append(number)
            while flips and number - flips[0] >= FLIPS_WITHIN:
                flips.popleft()
            if not flips:
                del self.flips[edit.path]
            blobs.append((self.moves, edit.new))
        while len(self._blobs) > FILES_KEPT:
            path = next(iter(self._blobs))
            del self._blobs[path]
            self.flips.pop(path, None)
