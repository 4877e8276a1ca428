"""The agent says "done", ralph's own check says no, and nothing gets better."""

from __future__ import annotations

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.words import some, span


def claims(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop at the third claim in a row over the same red gates."""
    row, newest = history.side.claims, history.newest
    if settings.stop.no_progress is None or newest is None or len(row) < (row.maxlen or 0) or row[-1] != newest.number:
        return None
    red = [gate.name for gate in newest.gates if not gate.holds]
    failing = newest.tests.failing if newest.tests else frozenset[str]()
    return Stop(
        Reason.NO_PROGRESS,
        f"{span(tuple(row))} claimed to be done, but ralph's check says no: {some(red)}",
        iterations=tuple(row),
        tests=tuple(sorted(failing)[:20]),
    )
