"""The result of one test, check or gate command, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """What a run of the command says."""

    __hash__ = object.__hash__  # the one of Enum is written in Python, and sets of these are asked all the time

    GREEN = "green"
    RED = "red"
    NONE_RAN = "none-ran"
    TIMED_OUT = "timed-out"
    BROKEN = "broken"
    FLAKY = "flaky"


@dataclass(frozen=True, slots=True)
class Suite:
    """One run of one command.

    name: "tests", or the name of the check or gate. ids are "/"- or "::"-joined as the format gives them,
    capped in length; the three sets are disjoint. exit: how it ended, for people. digest: hex over name,
    verdict and the three sets. tail: the last lines it printed, raw text for a sink to sanitise.
    reused: the verdict comes from an earlier run on the same tree. passed, total: counts, known also where the format
    gives no ids (total: with skipped ones), None where not even those. partial: the runner stopped early, so an
    absent id says nothing. flaky: ids that two runs on one tree disagree about; in none of the three sets.
    """

    name: str
    verdict: Verdict
    passing: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    format: str = "exit"
    exit: str = ""
    elapsed_s: float = 0.0
    detail: str = ""
    tail: str = ""
    digest: str = ""
    reused: bool = False
    passed: int | None = None
    total: int | None = None
    partial: bool = False
    flaky: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SuiteChange:
    """What moved between an earlier and a later run of the same command. All sorted ids.

    newly_passing: left the failing set without vanishing. fresh: ids never seen in this run before.
    vanished: known at the baseline or since, gone now.
    """

    newly_passing: tuple[str, ...] = ()
    newly_failing: tuple[str, ...] = ()
    fresh: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    newly_skipped: tuple[str, ...] = ()
