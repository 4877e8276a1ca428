"""Numbers as people read them: money, durations, counts. Unknown is said, never shown as 0."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ralph.encode.terminal import one_line
from ralph.facts.run import Totals
from ralph.facts.suite import Suite, Verdict
from ralph.facts.usage import MICRO


def money(micro: int | None) -> str:
    """Return "$1.23", with four decimals below a dime, "unknown" for None."""
    if micro is None:
        return "unknown"
    digits = 2 if micro >= 100_000 or micro == 0 else 4
    return f"${micro / MICRO:,.{digits}f}"


def duration(seconds: float) -> str:
    """Return "0.4s", "41s", "12m05s", "3h07m", "2d04h": the two largest units."""
    whole = round(seconds)
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02}m"
    return f"{whole // 86400}d{whole % 86400 // 3600:02}h"


def plural(count: int, noun: str) -> str:
    """Return "1 file", "3 files"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def some(names: Collection[str], limit: int = 5) -> str:
    """Return the first names, cleaned for a terminal, and how many more there are."""
    shown = [one_line(n, 100) for n in sorted(names)[:limit]]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")


def numbers(iterations: Iterable[int]) -> str:
    """Return "4", "4, 6" or "4-7"."""
    listed = sorted(set(iterations))
    if len(listed) > 2 and listed == list(range(listed[0], listed[-1] + 1)):
        return f"{listed[0]}-{listed[-1]}"
    return ", ".join(str(n) for n in listed)


def suite_words(suite: Suite | None) -> str:
    """Return "tests 9/12", "tests green", "tests timed-out" …; "" where none ran."""
    if suite is None:
        return ""
    passed = suite.passed if suite.passed is not None else len(suite.passing)
    total = passed + len(suite.failing)
    counted = suite.verdict in (Verdict.GREEN, Verdict.RED, Verdict.FLAKY) and suite.format != "exit" and total
    words = f"{passed}/{total}" if counted else suite.verdict.value
    flaky = " (flaky)" if counted and suite.verdict is Verdict.FLAKY else ""
    return f"{one_line(suite.name, 40)} {words}{flaky}"


def spent_words(totals: Totals) -> str:
    """Return what a run used so far: "3 iterations, 1h07m, at least $4.12 (reported), 120,000 tokens"."""
    least = "at least " if totals.at_least and totals.cost_micro is not None else ""
    cost = f"{least}{money(totals.cost_micro)}" if totals.cost_micro is not None else "cost unknown"
    source = f" ({totals.cost_source})" if totals.cost_micro is not None else ""
    tokens = f", {totals.tokens:,} tokens" if totals.tokens is not None else ""
    return f"{plural(totals.iterations, 'iteration')}, {duration(totals.elapsed_s)}, {cost}{source}{tokens}"
