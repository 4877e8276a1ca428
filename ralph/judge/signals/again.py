"""A recorded iteration judged again: its rows become steps, and a watch with other thresholds looks at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ralph.facts.settings import Detect
from ralph.judge.signals.sighting import Sighting
from ralph.judge.signals.step import Step, step_of
from ralph.judge.signals.watch import Watch


def steps_of(rows: Iterable[Sequence[object]]) -> Iterator[Step]:
    """Yield the steps of rows, in order; what is no row ends them."""
    made: list[Step] = []
    for row in rows:
        try:
            made.append(step_of(row, len(made)))
        except (ValueError, TypeError, IndexError, AttributeError):
            break
    last: dict[str, int] = {}
    closing: set[int] = set()
    for step in made:
        before = last.get(step.stream)
        if before is not None and made[before].turn != step.turn:
            closing.add(before)
        last[step.stream] = step.index
    closing.update(last.values())
    for number, step in enumerate(made):
        yield step if number in closing else replace(step, closes=False)


def sighted(rows: Iterable[Sequence[object]], detect: Detect) -> tuple[tuple[Sighting, ...], int]:
    """Return the loops that reach a level in these rows, and how many steps there are.

    Nobody can look at the work tree of that time any more, so a change that no step tells of is not seen.
    """
    watch, count = Watch(detect), 0
    found: list[Sighting] = []
    for step in steps_of(rows):
        count += 1
        found += watch.see(step)
    return tuple(found), count
