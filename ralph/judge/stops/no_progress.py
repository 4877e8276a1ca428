"""Nothing new: K iterations in a row in one place, or eight in a row in known places, reading or not."""

from __future__ import annotations

from collections.abc import Iterable

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.step import Step
from ralph.judge.words import some, span


def no_progress(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop when a stretch is full; K = `stop.no_progress`."""
    if settings.stop.no_progress is None:
        return None
    rest, wander = history.stretch.resting, history.stretch.wandering
    if len(rest) == rest.maxlen and rest[-1] is history.step:
        return _stop(history, rest, f"ended where the run had been before (state {rest[-1].state})")
    if len(wander) == wander.maxlen and wander[-1] is history.step:
        return _stop(history, wander, "brought no new state, however much was read")
    return None


def _stop(history: History, steps: Iterable[Step], words: str) -> Stop:
    row = tuple(steps)
    numbers = tuple(step.number for step in row)
    states = tuple(dict.fromkeys(step.state for step in row))
    return Stop(
        Reason.NO_PROGRESS, f"{span(numbers)} {words}{_remarks(history, numbers)}", iterations=numbers, states=states
    )


def _remarks(history: History, numbers: tuple[int, ...]) -> str:
    row = [one for one in history.iterations if one.number in numbers]
    denied = sorted({name for one in row for name in one.denied})
    remarks = ""
    if denied:
        remarks += f"; tools were denied ({some(denied)}): see the agent's permission setting (agent.permissions)"
    if history.tests_last is not None and history.trail.all_green:
        remarks += "; the tests were green all along"
    if any(one.signals for one in row):
        loops = sorted({signal.detector for one in row for signal in one.signals})
        remarks += f"; loops were seen inside ({some(loops)})"
    return remarks
