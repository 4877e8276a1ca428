"""The verdict block: the last thing a run prints, and the only thing it prints on stdout (design 2.3)."""

from __future__ import annotations

from collections.abc import Iterator

from ralph.encode.terminal import clean, one_line
from ralph.facts.run import Conclusion, Stop
from ralph.report.phrases import numbers, some, spent_words

SHOWN_FINDINGS = 8


def verdict_block(conclusion: Conclusion) -> str:
    """Return the block: reason, evidence, totals, best iteration, findings, overshoot, next commands."""
    return "\n".join(_lines(conclusion))


def _lines(conclusion: Conclusion) -> Iterator[str]:
    stop = conclusion.stop
    yield f"{stop.reason.value}: {one_line(stop.detail, 300)}  [{stop.reason.exit_code}]"
    yield from _evidence(stop)
    yield f"  spent:     {spent_words(conclusion.totals)}"
    if conclusion.overshoot:
        yield f"  overshoot: {one_line(conclusion.overshoot)}"
    if conclusion.best is not None:
        yield f"  best:      {one_line(conclusion.best.detail)}"
    for finding in conclusion.findings[:SHOWN_FINDINGS]:
        yield f"  finding:   {finding.kind}: {one_line(finding.detail)}"
    if len(conclusion.findings) > SHOWN_FINDINGS:
        yield f"  finding:   and {len(conclusion.findings) - SHOWN_FINDINGS} more, see the report"
    for command in conclusion.next_commands:
        yield f"  next:      {clean(command)}"


def _evidence(stop: Stop) -> Iterator[str]:
    if stop.iterations:
        yield f"  evidence:  iterations {numbers(stop.iterations)}"
    if stop.states:
        yield f"  states:    {some([s[:12] for s in stop.states], 8)}"
    if stop.tests:
        yield f"  tests:     {some(stop.tests, 8)}"
