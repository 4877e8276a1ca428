"""Small makers of values and clocks for the tests of this room."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

from ralph.facts.finding import Finding
from ralph.facts.iteration import Iteration, Spent
from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Conclusion, Opening, Stop, Totals
from ralph.facts.settings import Settings
from ralph.facts.suite import Suite, Verdict
from ralph.facts.tree import Changes, Tree, Trees
from ralph.facts.usage import Charge, Source, Tokens
from ralph.journal import entries

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


class StillClock:
    """A clock that moves by a second each time it is asked."""

    def __init__(self, start: float = 1000.0) -> None:
        self.seconds = start

    def real(self) -> float:
        self.seconds += 1
        return self.seconds

    def awake(self) -> float:
        return self.real()

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.real())


def suite(*failing: str, name: str = "tests", passing: int = 3, digest: str = "") -> Suite:
    verdict = Verdict.RED if failing else Verdict.GREEN
    ok = frozenset(f"t::ok{n}" for n in range(passing))
    seal = digest or hashlib.sha256(repr((name, sorted(failing), passing)).encode()).hexdigest()[:16]
    return Suite(name, verdict, passing=ok, failing=frozenset(failing), digest=seal, tail="2 failed\n", exit="exit 1")


def iteration(number: int, *failing: str, micro: int | None = 250_000, findings: tuple[Finding, ...] = ()) -> Iteration:
    trees = Trees(
        Tree("a" * 64, "a" * 64, "c" * 40, "main"), Tree(f"{number:064x}", "b" * 64), Tree("d" * 64, "d" * 64)
    )
    charge = Charge(micro, Source.REPORTED if micro is not None else Source.UNKNOWN)
    return Iteration(
        number,
        NOON + timedelta(minutes=number),
        trees,
        Outcome.COMPLETED,
        elapsed_s=12.5,
        exit="exit 0",
        changes=Changes(2, 10, 3, ("src/a.py", "src/b\udcff.py")),
        suites=(suite(*failing),),
        spent=Spent(charge, Tokens(1000, 200, 5000, 300), 7, 12, "some-model"),
        answer="I fixed \x1b[31mit\x1b[0m",
        findings=findings,
    )


def started(run: str = "20261130-0512-7f3a") -> entries.Entry:
    opening = Opening(run, NOON, Tree("a" * 64, "a" * 64), (suite("t::a", "t::b"),), (("PLAN.md", 3, 1),))
    agent = {"name": "claude", "argv": ["/usr/bin/claude", "-p"], "version": "2.1"}
    repo = {"top": "/repo", "git_dir": "/repo/.git", "head": None}
    return entries.run_started(opening, settings=Settings(), origins={}, prompt_hash="ab" * 32, agent=agent, repo=repo)


def stopped(reason: Reason = Reason.DONE) -> entries.Entry:
    stop = Stop(reason, "all gates hold", iterations=(2, 3), states=("dd",), verified=True)
    return entries.run_stopped(Conclusion("20261130-0512-7f3a", stop, Totals()), exit_code=reason.exit_code)
