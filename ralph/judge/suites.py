"""What moved between runs of one command, and which of several runs on one tree counts."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ralph.facts.settings import Command
from ralph.facts.suite import Suite, SuiteChange, Verdict

TESTS = "tests"
"""Name of the suite of `--test`; its ids are used bare, those of checks carry the check's name in front."""
BASELINE_AGE = timedelta(days=7)
_RUNS_OF_RED = 2
_JUDGED = (Verdict.GREEN, Verdict.RED, Verdict.FLAKY)
_SYNTHETIC = re.compile(r"exit \d+|killed by signal \d+|plan of \d+ tests|bail out.*|unnamed failures")
_SYNTHETIC_HEADS = ("exit ", "killed by signal ", "plan of ", "bail out", "unnamed failures")
_FIXTURE = re.compile(r"(.+)[.:]+(?:setUp|tearDown)(?:Class|Module)")


def ids(suite: Suite) -> frozenset[str]:
    """Return every test id the suite tells of, those that only stand for an exit left out."""
    told = suite.passing | suite.failing | suite.skipped | suite.flaky
    # Asked several times an iteration, of ten thousand ids maybe: hardly one gets as far as the expression.
    return told - {one for one in told if one.startswith(_SYNTHETIC_HEADS) and is_synthetic(one)}


def known_ids(suites: Iterable[Suite | None]) -> frozenset[str]:
    """Return the test ids seen in any of these runs of one command: the `known` of `change`."""
    return frozenset().union(*(ids(suite) for suite in suites if suite is not None))


def digest(
    name: str, verdict: Verdict, *, passing: frozenset[str], failing: frozenset[str], skipped: frozenset[str]
) -> str:
    """Return hex over name, verdict and the three sets: equal exactly where all five are."""
    hashed = hashlib.sha256()
    for part in (name, verdict.value):
        hashed.update(part.encode("utf-8", "surrogatepass") + b"\0")
    for ids in (passing, failing, skipped):
        for one in sorted(ids):
            hashed.update(one.encode("utf-8", "surrogatepass") + b"\0")
        hashed.update(b"\1")
    return hashed.hexdigest()


def is_synthetic(name: str) -> bool:
    """Return whether an id stands for the end of the whole run ("exit 1"), not for a test."""
    return _SYNTHETIC.fullmatch(name) is not None


def names_passing(suite: Suite) -> bool:
    """Return whether an id that is absent from the passing ones really did not pass."""
    return bool(suite.passing) or suite.passed == 0


def change(previous: Suite | None, now: Suite, known: frozenset[str]) -> SuiteChange:
    """Return what moved from the previous run to this one.

    previous: None for the first run. known: ids seen at the baseline or since. A run that timed out or broke down
    says nothing about any test; one that stopped early says nothing about those it does not name.
    """
    if now.verdict not in (*_JUDGED, Verdict.NONE_RAN):
        return SuiteChange()
    earlier = previous if previous is not None and previous.verdict in _JUDGED else None
    here = _Names(ids(now))
    old_failing = earlier.failing if earlier is not None else frozenset()
    left = old_failing - now.failing
    passed = frozenset(one for one in left if _passes_now(one, now, here))
    ran_before = (earlier.passing | earlier.failing) if earlier is not None else frozenset()
    before = known | (ids(earlier) if earlier is not None else frozenset())
    return SuiteChange(
        newly_passing=tuple(sorted(passed)),
        newly_failing=tuple(sorted(now.failing - old_failing)) if earlier is not None else (),
        fresh=tuple(sorted(here.all - before)),
        vanished=tuple(sorted(one for one in before - here.all - passed if _vanished(one, now, here))),
        newly_skipped=tuple(sorted(now.skipped & ran_before)),
    )


class _Names:
    """The ids of one run, with a quick answer to "is there one inside this file, class or package?"."""

    def __init__(self, names: frozenset[str]) -> None:
        self.all = names
        self._sorted: list[str] | None = None

    def holds(self, container: str) -> bool:
        return any(self._starts(container + joint) for joint in ("::", ".", "/"))

    def _starts(self, prefix: str) -> bool:
        if self._sorted is None:
            self._sorted = sorted(self.all)  # only for a test that is not there under its own name
        at = bisect_left(self._sorted, prefix)
        return at < len(self._sorted) and self._sorted[at].startswith(prefix)


def _container(name: str) -> str:
    """Return what a failure of a whole module, class or package stands for: "a.B.setUpClass" for "a.B"."""
    fixture = _FIXTURE.fullmatch(name)
    return fixture[1] if fixture else name


def _passes_now(name: str, now: Suite, here: _Names) -> bool:
    """Return whether an id that left the failing set passed, rather than vanished or was skipped."""
    if is_synthetic(name):
        return now.verdict is Verdict.GREEN
    if name in now.skipped or name in now.flaky:
        return False
    if name in now.passing or here.holds(_container(name)):
        return True
    return not names_passing(now) and not now.partial and now.verdict in _JUDGED and bool(now.passed)


def _vanished(name: str, now: Suite, here: _Names) -> bool:
    if now.partial or is_synthetic(name) or here.holds(_container(name)):
        return False
    if now.verdict is not Verdict.NONE_RAN and not names_passing(now):
        return False  # only counts are known: see `tampering`
    # A module that does not import hides its tests, it did not lose them.
    return not any(_inside(name, _container(one)) for one in now.failing)


def _inside(name: str, container: str) -> bool:
    return name.startswith(tuple(container + joint for joint in ("::", ".", "/")))


def failing_ids(suites: Iterable[Suite]) -> frozenset[str]:
    """Return the failing half of a state: failing test and check ids, those of checks as "check/id".

    A suite that gave no result at all adds its verdict in brackets, so broken is never the same state as green.
    """
    found: set[str] = set()
    for suite in suites:
        front = "" if suite.name == TESTS else f"{suite.name}/"
        found.update(f"{front}{one}" for one in suite.failing)
        if suite.verdict in (Verdict.BROKEN, Verdict.TIMED_OUT, Verdict.NONE_RAN):
            found.add(f"{front}({suite.verdict.value})")
    return frozenset(found)


def flaky(first: Suite, second: Suite) -> Suite | None:
    """Return the FLAKY suite of two runs on one tree that disagree, None where they agree.

    The ids that differ are in `flaky` and in none of the three sets: neutral. Failing stays what failed both times.
    """
    if first.verdict is second.verdict and first.failing == second.failing:
        return None
    differing = (first.failing ^ second.failing) | first.flaky | second.flaky
    named = sorted(one for one in differing if not is_synthetic(one))
    detail = f"{len(named)} flaky: {', '.join(named[:3])}" if named else _words(first, second)
    passing, skipped = second.passing - differing, second.skipped - differing
    failing = (first.failing & second.failing) - differing
    return replace(
        second,
        verdict=Verdict.FLAKY,
        passing=passing,
        failing=failing,
        skipped=skipped,
        flaky=frozenset(named),
        detail=detail,
        digest=digest(second.name, Verdict.FLAKY, passing=passing, failing=failing, skipped=skipped),
    )


def _words(first: Suite, second: Suite) -> str:
    return f"same tree, two verdicts: {first.verdict.value}, then {second.verdict.value}"


def reusable(runs: Sequence[Suite]) -> Suite | None:
    """Return the result that stands for another run on this very tree, marked `reused`, or None: run it (R102).

    runs: of one command on one tree in this run, oldest first. Settled green is reused; anything else is run again
    once, then what it came to is reused.
    """
    if not runs or needs_rerun(runs):
        return None
    if runs[-1].verdict is Verdict.GREEN or len(runs) >= _RUNS_OF_RED:
        return replace(settled(runs), reused=True)
    return None


def needs_rerun(runs: Sequence[Suite]) -> bool:
    """Return whether the newest result may not count before it is confirmed: green on a tree that was not green.

    runs: as for `reusable`, not empty.
    """
    if runs[-1].verdict is not Verdict.GREEN:
        return False
    return len(runs) >= 2 and runs[-2].verdict is not Verdict.GREEN


def settled(runs: Sequence[Suite]) -> Suite:
    """Return the result that counts for a tree: the last, or FLAKY where it disagrees with the one before.

    Two greens in a row settle a tree that was red before. runs: as for `reusable`, not empty.
    """
    if len(runs) == 1:
        return runs[0]
    return flaky(runs[-2], runs[-1]) or runs[-1]


@dataclass(frozen=True, slots=True)
class CachedSuite:
    """A baseline kept for the next run. tree: id of the tree it ran on. command: argv. made_at: aware UTC."""

    tree: str
    command: Command
    made_at: datetime
    suite: Suite


def usable(cached: CachedSuite, tree: str, *, command: Command, now: datetime) -> bool:
    """Return whether a kept baseline still stands: same tree and command, at most 7 days old, a real result.

    A clock that was set back makes it unusable, never eternal.
    """
    if (cached.tree, cached.command) != (tree, command) or cached.suite.verdict not in (Verdict.GREEN, Verdict.RED):
        return False
    return timedelta(0) <= now - cached.made_at <= BASELINE_AGE
