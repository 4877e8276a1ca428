"""The lines a run prints while it goes: one for each iteration, in a fixed order of facts."""

from __future__ import annotations

from collections.abc import Iterator

from ralph.encode.terminal import one_line
from ralph.facts.iteration import Iteration
from ralph.facts.usage import Source
from ralph.report.phrases import duration, money, plural, some, suite_words


def iteration_line(iteration: Iteration, *, streak: str = "") -> str:
    """Return one line: outcome, time, changes, tests, money, and the streak towards a stop if there is one."""
    parts = [p for p in _parts(iteration) if p]
    tail = f" [{streak}]" if streak else ""
    return f"iteration {iteration.number}: " + " · ".join(parts) + tail


def _parts(iteration: Iteration) -> Iterator[str]:
    yield f"{iteration.outcome.value} in {duration(iteration.elapsed_s)}"
    yield _changes(iteration)
    yield from (suite_words(suite) for suite in iteration.suites)
    charge = iteration.spent.charge
    yield money(charge.micro) if charge.source not in (Source.UNKNOWN, Source.FREE) else ""
    yield f"swept {len(iteration.swept)} left-over processes" if iteration.swept else ""
    yield f"denied {some(iteration.denied)}" if iteration.denied else ""
    yield one_line(iteration.detail, 120)


def _changes(iteration: Iteration) -> str:
    changes = iteration.changes
    if not changes.files:
        return "no change"
    lines = f" +{changes.added} -{changes.removed}" if changes.added is not None else ""
    return plural(changes.files, "file") + lines
