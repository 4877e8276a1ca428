"""To and fro among known states, committed or not, with or without news in between."""

from __future__ import annotations

from collections.abc import Iterable

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.step import Kind, Step
from ralph.judge.words import some, span


def oscillation(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop when K in a row ended in known states and visited two, or K of the last 2K-1 moves were returns."""
    stretch, step = history.stretch, history.step
    if settings.stop.oscillation is None or step is None:
        return None
    row = tuple(stretch.known)
    if len(row) == stretch.turns_back and row[-1] is step and _is_moving(row):
        return _stop(history, row)
    returns = tuple(one for one in stretch.moving if one.kind is Kind.RETURN)
    if step.kind is Kind.RETURN and len(returns) >= stretch.turns_back:
        return _stop(history, returns)
    return None


def _is_moving(row: Iterable[Step]) -> bool:
    """Say whether the row visited at least two states, and an agent had a part in it."""
    steps = tuple(row)
    places = frozenset[bytes]().union(*(step.places for step in steps))
    states = {step.key for step in steps}
    return any(step.moved for step in steps) and max(len(places), len(states)) >= 2


def _stop(history: History, row: tuple[Step, ...]) -> Stop:
    numbers = tuple(step.number for step in row)
    states = tuple(dict.fromkeys(step.state for step in row))
    files = sorted({p for one in history.iterations if one.number in numbers for p in one.changes.paths})
    where = f"; files: {some(files)}" if files else ""
    undone = [step.number for step in row if step.undone]
    step = f"; the test step took the change back in {span(undone)}" if undone else ""
    return Stop(
        Reason.OSCILLATION,
        f"{span(numbers)} went back to states the run had before ({some(states)}){where}{step}",
        iterations=numbers,
        states=states,
    )
