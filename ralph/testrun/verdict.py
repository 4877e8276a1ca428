"""Weighs the exit of a command against its report: pure, and the stricter of the two rules."""

from __future__ import annotations

import errno
from dataclasses import dataclass

from ralph.facts.ending import Ended, Exited, NotStarted, Poisoned, Signalled, Why
from ralph.facts.suite import Suite, Verdict
from ralph.judge.suites import digest
from ralph.testreports import Parsed

_NOT_FOUND = 127
_NOT_EXECUTABLE = 126
_PYTEST_ABORTED = {3: "pytest: internal error", 4: "pytest: usage error"}
_PYTEST_NONE_RAN = 5


@dataclass(frozen=True, slots=True)
class Facts:
    """All that one run of a command left.

    format: key of `testreports.FORMATS`. missing: why the report asked for cannot be used, None if it can or none was
    asked for. in_shell: the command was text for a shell, so 127 means that a program was not found.
    """

    name: str
    ended: Ended
    format: str
    parsed: Parsed
    missing: str | None = None
    in_shell: bool = False
    tail: str = ""


def suite(facts: Facts) -> Suite:
    """Return the result, its digest filled. On RED the failing set is never empty: at worst it holds the exit."""
    verdict, detail = _verdict(facts)
    parsed = facts.parsed
    judged = verdict in (Verdict.GREEN, Verdict.RED)
    failing = parsed.failing if judged else frozenset()
    if verdict is Verdict.RED and not failing:
        failing = frozenset({str(facts.ended.how)})
    passing = parsed.passing if judged else frozenset()
    skipped = parsed.skipped if judged or verdict is Verdict.NONE_RAN else frozenset()
    return Suite(
        name=facts.name,
        verdict=verdict,
        passing=passing,
        failing=failing,
        skipped=skipped,
        format=facts.format,
        exit=str(facts.ended.how),
        elapsed_s=facts.ended.elapsed_s,
        detail=detail,
        tail=facts.tail,
        digest=digest(facts.name, verdict, passing=passing, failing=failing, skipped=skipped),
        passed=parsed.passed,
        total=parsed.total,
        partial=parsed.partial,
    )


def _verdict(facts: Facts) -> tuple[Verdict, str]:
    if facts.ended.cut is not None and facts.ended.cut.why is Why.ITERATION_TIME:
        return Verdict.TIMED_OUT, f"over its limit after {facts.ended.elapsed_s:.0f} s"
    match facts.ended.how:
        case NotStarted(error=number, message=message):
            found = number not in (errno.ENOENT, errno.ENOTDIR)
            return Verdict.BROKEN, message if found else f"program not found: {message}"
        case Poisoned():
            return Verdict.BROKEN, "its guardian vanished"
        case Signalled() as how:
            return Verdict.RED, str(how)
        case Exited(code=code):
            return _by_exit(code, facts)


def _by_exit(code: int, facts: Facts) -> tuple[Verdict, str]:
    parsed = facts.parsed
    if parsed.failing:
        why = "failures are reported although it exited 0" if code == 0 else ""
        return Verdict.RED, why
    if broken := _broken(code, facts):
        return Verdict.BROKEN, broken
    if parsed.ran == 0 or (facts.format == "pytest" and code == _PYTEST_NONE_RAN):
        return Verdict.NONE_RAN, "no test ran"
    if code == 0:
        return Verdict.GREEN, ""
    why = "it reports no failing test" if parsed.ran else ""
    return Verdict.RED, facts.missing or why


def _broken(code: int, facts: Facts) -> str | None:
    """Return why this run is no test result at all."""
    if facts.parsed.broken is not None:
        return facts.parsed.broken
    if facts.in_shell and facts.parsed.ran is None and code in (_NOT_FOUND, _NOT_EXECUTABLE):
        word = "not found" if code == _NOT_FOUND else "cannot be executed"
        last = next((line.strip() for line in reversed(facts.tail.splitlines()) if line.strip()), "")
        return f"program {word}: {last}" if last else f"program {word}"
    if facts.format == "pytest" and code in _PYTEST_ABORTED:
        return _PYTEST_ABORTED[code]
    # Exit 0 alone is no evidence where the user asked for a report (E3); a red exit may well come before one.
    return facts.missing if code == 0 else None
