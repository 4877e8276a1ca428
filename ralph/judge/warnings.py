"""What is worth a word in the report and stops nothing yet: one finding for each beginning of a bad sign."""

from __future__ import annotations

from collections.abc import Iterator

from ralph.facts.finding import Finding
from ralph.judge.churn import TO_AND_FRO
from ralph.judge.history import History
from ralph.judge.step import Kind
from ralph.judge.words import span

FLIPS = 2
KINDS = ("returned", "resting", "file-flip-flop", "reverse-hunks", "net-zero-churn")


def warnings(history: History) -> tuple[Finding, ...]:
    """Return what the newest iteration gives reason to warn of. Never blocks. To be asked once after each `add`."""
    return tuple(_found(history))


def _found(history: History) -> Iterator[Finding]:
    step, churn = history.step, history.churn
    if step is None or step.number != history.count:
        return
    if step.kind is Kind.RETURN:
        yield Finding("returned", f"iteration {step.number} ended in the state of iteration {step.first}: {step.state}")
    if len(history.stretch.resting) == 2 and history.stretch.resting[-1] is step:
        numbers = tuple(one.number for one in history.stretch.resting)
        yield Finding("resting", f"{span(numbers)} ended where the run had been before")
    for path, flips in churn.flips.items():
        if len(flips) == FLIPS and flips[-1] == step.number:
            yield Finding("file-flip-flop", f"{span(tuple(flips))} put a file back to what it was", (path,))
    if churn.reverses and churn.reverses[-1].number == step.number:
        last = churn.reverses[-1]
        words = f"iteration {step.number} took back {last.overlap:.0%} of the lines of the iterations before"
        yield Finding("reverse-hunks", words, last.paths)
    if churn.passed and churn.passed[-1].number == step.number:
        yield from _net_zero(history)


def _net_zero(history: History) -> Iterator[Finding]:
    net = history.churn.net
    if net is not None and net <= TO_AND_FRO:
        numbers = tuple(one.number for one in history.churn.passed)
        yield Finding("net-zero-churn", f"{span(numbers)} left {net:.0%} of the lines they wrote or removed")
