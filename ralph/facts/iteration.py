"""One finished iteration: everything the rules, the summary and the report know of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ralph.facts.finding import Blocked, Finding, Signal
from ralph.facts.outcome import Outcome
from ralph.facts.suite import Suite, SuiteChange
from ralph.facts.tree import Changes, Trees
from ralph.facts.usage import Charge, Source, Tokens


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate of `--done` asked on this tree. name: "tests", "promise", "checklist FILE", "command CMD"."""

    name: str
    holds: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What an iteration used. tokens, turns: None where the agent does not say."""

    charge: Charge = Charge(None, Source.UNKNOWN)
    tokens: Tokens | None = None
    turns: int | None = None
    tools: int = 0
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Iteration:
    """One finished iteration.

    started_at: aware UTC. elapsed_s: agent and test steps. exit: "exit 0", "killed by signal 9" ….
    detail: why this outcome, in the agent's or our own words, raw. until: reset time of a quota.
    changes: before to agent tree. suites: tests first, then checks, then gate commands; () where none ran.
    change: of the test suite against the previous run, None where no suite ran. new_results: tool results this run
    had not seen. claimed: the agent printed the done token. answer: final message, capped, raw.
    outside: the tree changed between the previous iteration and this one. denied: names of refused tools.
    prompt_hash: sha256 of the bytes sent (without the note). printed: bytes on stdout and stderr.
    agent: name of the adapter whose agent worked, "" in old records.
    """

    number: int
    started_at: datetime
    trees: Trees
    outcome: Outcome
    elapsed_s: float = 0.0
    exit: str = ""
    detail: str = ""
    until: datetime | None = None
    changes: Changes = Changes()
    suites: tuple[Suite, ...] = ()
    change: SuiteChange | None = None
    spent: Spent = Spent()
    new_results: int = 0
    claimed: bool = False
    answer: str | None = None
    gates: tuple[GateResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    signals: tuple[Signal, ...] = ()
    swept: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    blocked: Blocked | None = None
    outside: bool = False
    prompt_hash: str = ""
    printed: int = 0
    agent: str = ""

    @property
    def tests(self) -> Suite | None:
        """Return the suite of the test command, None where it did not run."""
        return next((s for s in self.suites if s.name == "tests"), None)
