"""Every iteration has a new state, but only the plan file or noise such as logs makes it new."""

from __future__ import annotations

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.words import some, span


def side_matter(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop after five such iterations in a row."""
    row, step = history.side.asides, history.step
    if (
        settings.stop.no_progress is None
        or step is None
        or len(row) < (row.maxlen or 0)
        or row[-1].number != step.number
    ):
        return None
    numbers = tuple(aside.number for aside in row)
    paths = sorted({path for aside in row for path in aside.paths})
    return Stop(
        Reason.NO_PROGRESS,
        f"{span(numbers)} changed nothing but {some(paths)}; if that is the work, give --no-progress-after off",
        iterations=numbers,
    )
